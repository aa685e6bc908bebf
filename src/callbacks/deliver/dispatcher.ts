/**
 * Brings what is due to where it goes.
 *
 * - A run that was just started is handed over in memory (`offer`); others are found in the database. Nothing is polled
 *   on SQLite: the dispatcher sleeps until the next time that it knows of. On PostgreSQL it also looks now and then for
 *   what another process left behind.
 * - Each destination has a lane of its own, with its limits and its breaker. A lane takes more from the database when its
 *   queue runs out, so a million runs that wait for a dead destination cost nothing.
 * - On SQLite one process is all there is, and what is in flight is known in memory. On PostgreSQL a run is claimed,
 *   before it is attempted, for as long as an attempt may take.
 * - What came of an attempt is stored by the settler; only then the run may be taken again.
 */
import { type Clock, MICROS_PER_MS, type Micros, settlesWithin } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { type Worker, WorkerStop } from '../../platform/supervisor/supervisor.ts'
import type { BreakerPass } from '../destination/breaker.ts'
import type { StoredRun, WaitingRun } from '../run/run.ts'
import { applyEvent } from '../state/apply-event.ts'
import type { Attempted, Attempter } from './attempter.ts'
import { Claims } from './claims.ts'
import type { DeliveryEvents } from './delivery-events.ts'
import type { Lane } from './lane.ts'
import { LaneLoader } from './lane-loader.ts'
import type { Lanes } from './lanes.ts'
import { Setbacks } from './setbacks.ts'
import { Settler } from './settler.ts'
import { clampDue, destinationsDue } from './store-due.ts'
import { Timekeeper } from './timekeeper.ts'
import { UnderWay } from './under-way.ts'
import { WakeTimer } from './wake-timer.ts'

const DESTINATIONS_AT_ONCE = 500
const LOOK_AROUND_MS = 2_000
// After a start all destinations but the first few wait for a moment of their own: names are looked up and connections made for each.
const RESUMED_AT_ONCE = 10
const RESUME_WITHIN_MS = 250
const AFTER_ERROR_MS = 1_000
const STOPPED = 'callbacks.stopped'
// Of the time for stopping: so much to let requests end; in what is left the others are broken off and given back.
const FINISH = 0.9
const BREAK_OFF = 0.05

export interface DispatcherOptions {
  db: Database
  clock: Clock
  log: Logger
  lanes: Lanes
  attempter: Attempter
  events: DeliveryEvents
  /** Names this process in the claims it makes. */
  owner: string
}

export class Dispatcher implements Worker {
  readonly name = 'callbacks'
  readonly #options: DispatcherOptions
  readonly #isShared: boolean
  readonly #claims: Claims
  readonly #settler: Settler
  readonly #timekeeper: Timekeeper
  readonly #lookAround: WakeTimer
  readonly #loader: LaneLoader
  /** Of runs whose attempt could not be made, or its result not stored. */
  readonly #setbacks: Setbacks
  readonly #underWay: UnderWay
  /** They wait until results are stored. */
  readonly #held = new Set<Lane>()
  #isRunning = false
  readonly #outages: { reading: OutageLog; looking: OutageLog }

  constructor(options: DispatcherOptions) {
    const { db, clock, log, lanes } = options
    this.#options = options
    this.#isShared = db.engine === 'postgres'
    this.#claims = new Claims(options)
    this.#underWay = new UnderWay(log)
    this.#outages = { reading: new OutageLog(log), looking: new OutageLog(log) }
    this.#settler = new Settler({ db, clock, log, onCaughtUp: () => this.#letGo() })
    this.#timekeeper = new Timekeeper({
      db,
      clock,
      log,
      onDue: (run) => {
        options.events.scheduled(run)
        this.offer(run)
      },
      onStarted: (destinationIds) => this.#underWay.track(this.#open(destinationIds)),
      onTimedOut: (run) => {
        this.stop(run)
        options.events.timedOut(run)
      },
    })
    this.#lookAround = new WakeTimer(clock)
    this.#loader = new LaneLoader({ lanes, clock, log, onWait: (until) => this.#lookAt(until) })
    this.#setbacks = new Setbacks(clock)
    lanes.onChange = (lane) => this.#pump(lane)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    const { db, clock } = this.#options
    const unsubscribe = db.subscribe(STOPPED, (text) => this.#hearStopped(text))
    const halt = () => {
      this.#isRunning = false
      this.#timekeeper.stop()
      this.#lookAround.stop()
      resolve()
    }
    this.#isRunning = true
    signal.addEventListener('abort', halt)
    if (signal.aborted) halt()
    try {
      await db.write((tx) => clampDue(tx, clock.now()), { isolation: 'read committed' })
      // Overdue timeouts come before overdue attempts.
      if (this.#isRunning) await this.#timekeeper.start()
      if (this.#isRunning) await this.#findDestinations(true)
      await stopped
    } finally {
      // One that failed is started again.
      halt()
      unsubscribe()
      signal.removeEventListener('abort', halt)
    }
    const graceMs = signal.reason instanceof WorkerStop ? signal.reason.graceMs : 0
    await settlesWithin(clock, graceMs * FINISH, this.#underWay.idle())
    const brokenOff = this.#options.lanes.all().flatMap((lane) => lane.breakOff())
    if (brokenOff.length > 0) await settlesWithin(clock, graceMs * BREAK_OFF, this.#underWay.idle())
    this.#settler.giveUp()
    await this.#giveBack(brokenOff).catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'claims end by themselves'),
    )
  }

  /** A run that is due now, right after it was committed by this process. */
  offer(run: WaitingRun): void {
    const lane = this.#options.lanes.find(run.destinationId)
    if (lane === undefined) this.#underWay.track(this.#openFor(run, false))
    else this.#enqueue(lane, run)
  }

  /** A person asked for an attempt now, whatever the breaker says. One that is not running leaves it to others. */
  tryNow(run: StoredRun): void {
    this.#underWay.track(this.#openFor(run, true))
  }

  /** A time at which a run of this process has to be looked at: its deadline, or a first attempt that is put off. */
  wakeAt(at: number): void {
    this.#timekeeper.wakeAt(at)
  }

  /** Part of a change that closes or deletes the run: its request is broken off, whichever process makes it. */
  stopWith(tx: Transaction, run: StoredRun): void {
    tx.afterCommit(() => this.stop(run))
    // Signals make commits on PostgreSQL wait for one another: none for what cannot be in flight.
    if (this.#isShared && run.record.state === 'SCHEDULED') tx.signal(STOPPED, `${run.destinationId} ${run.runNumber}`)
  }

  /** The run was closed or deleted. */
  stop({ destinationId, runNumber }: Pick<StoredRun, 'destinationId' | 'runNumber'>): void {
    const { lanes } = this.#options
    const lane = lanes.find(destinationId)
    if (lane === undefined) return
    lane.stop(runNumber)
    lanes.rest(lane)
  }

  /** One that was missed does no harm: what comes of the attempt is dropped. */
  #hearStopped(text: string): void {
    const [destinationId, runNumber] = text.split(' ').map(Number)
    if (destinationId !== undefined && runNumber !== undefined) this.stop({ destinationId, runNumber })
  }

  #enqueue(lane: Lane, run: WaitingRun): void {
    // What is in the database longer goes first.
    if (this.#isShared || lane.hasMore || lane.isLoading || lane.room() <= 0) lane.hasMore = true
    else lane.add(run)
    this.#pump(lane)
  }

  async #openFor(run: WaitingRun, isTrial: boolean): Promise<void> {
    const lane = await this.#loader.load(run.destinationId)
    if (lane === undefined) return
    // It may have been closed meanwhile, and is read again.
    lane.hasMore = true
    if (isTrial && this.#isRunning) this.#underWay.track(this.#takeTrial(lane, run))
    this.#pump(lane)
  }

  /** Starts what may be started, and sees to it that there is more. */
  #pump(lane: Lane): void {
    const lapsed = this.#isShared && this.#isRunning ? this.#claims.giveBackLapsed(lane) : null
    if (lapsed !== null) this.#underWay.track(lapsed.then(() => this.#again(lane)))
    for (;;) {
      if (!this.#isRunning) return
      if (this.#settler.isBehind) {
        this.#held.add(lane)
        return
      }
      const next = lane.next()
      if (next.kind === 'wait') {
        if (next.until !== null) lane.wakeAt(next.until, () => this.#pump(lane))
        return
      }
      if (next.kind === 'empty') break
      this.#underWay.track(this.#attempt(lane, next.run, next.pass))
    }
    if (lane.hasMore && !lane.isLoading) this.#underWay.track(this.#take(lane))
  }

  /** Results are stored again as fast as they come. */
  #letGo(): void {
    const lanes = [...this.#held]
    this.#held.clear()
    for (const lane of lanes) this.#pump(lane)
  }

  async #take(lane: Lane): Promise<void> {
    const limit = this.#isShared ? lane.claimable() : lane.room()
    if (limit <= 0) {
      const at = lane.nextOfferAt
      if (at !== null) lane.wakeAt(at, () => this.#pump(lane))
      return
    }
    lane.isLoading = true
    // What comes while the database is asked is not in its answer.
    lane.hasMore = false
    try {
      const runs = await this.#claims.take(lane, limit)
      this.#outages.reading.over()
      if (runs.length === limit) lane.hasMore = true
      const most = this.#isShared ? lane.fitting(runs) : runs.length
      for (const run of runs.slice(0, most)) lane.add(run)
      if (most < runs.length) {
        lane.hasMore = true
        await this.#claims.giveBack(runs.slice(most).map(({ runNumber }) => runNumber))
      }
    } catch (error) {
      this.#outages.reading.tell({ err: error, destination: lane.destination }, 'due callbacks could not be read')
      lane.hasMore = true
      lane.wakeAt(this.#options.clock.now() + AFTER_ERROR_MS * MICROS_PER_MS, () => this.#pump(lane))
      return
    } finally {
      lane.isLoading = false
    }
    this.#pump(lane)
    this.#options.lanes.rest(lane)
  }

  /** Asked for by hand: this run and no other, whatever the breaker says. */
  async #takeTrial(lane: Lane, run: WaitingRun): Promise<void> {
    lane.trialsSought++
    try {
      // What this lane has already cannot be claimed once more.
      const taken = lane.known.has(run.runNumber) ? run : await this.#claims.takeOne(lane, run.runNumber)
      if (taken !== undefined) lane.add(taken, true)
    } finally {
      lane.trialsSought--
    }
    this.#pump(lane)
    this.#options.lanes.rest(lane)
  }

  async #attempt(lane: Lane, run: WaitingRun, pass: BreakerPass): Promise<void> {
    const { attempter, events } = this.#options
    const signal = lane.begin(run)
    const attempted = await attempter.attempt(lane, run, signal)
    lane.end(run)
    // Whoever stops may have the answer already.
    const answer = attempted === 'lapsed' ? null : attempted
    const isKnown = !this.#isRunning && answer?.verdict.result === 'success'
    if (signal.aborted && !isKnown) {
      lane.breaker.release(pass)
      lane.forget(run.runNumber)
      this.#options.lanes.rest(lane)
    } else if (attempted === null) {
      lane.breaker.release(pass)
      this.#putOff(lane, run, () => this.#return(lane, [run.runNumber]))
    } else if (attempted === 'lapsed') {
      lane.breaker.release(pass)
      this.#return(lane, [run.runNumber])
    } else {
      if (attempted.isSent) {
        const change = lane.breaker.settle(pass, attempted.verdict.result === 'retryable')
        events.attempted(lane, attempted, change)
        if (change === 'opened') this.#return(lane, lane.shrink())
      } else lane.breaker.release(pass)
      this.#underWay.track(this.#settle(lane, run, attempted))
    }
    this.#pump(lane)
  }

  /** It is still due, unless somebody closed it, but not taken until its time comes: others are behind it. */
  #putOff(lane: Lane, run: WaitingRun, goOn: () => void): number {
    lane.putOff++
    const ms = this.#setbacks.add(run.runNumber)
    // A timer of its own: that of the lane may be needed earlier.
    this.#options.clock.after(ms, () => {
      lane.putOff--
      goOn()
    })
    return ms
  }

  /** They are not attempted now, and found in the database again. */
  #return(lane: Lane, runNumbers: readonly number[]): void {
    if (runNumbers.length === 0) return
    if (this.#isShared) this.#underWay.track(this.#claims.return(lane, runNumbers).finally(() => this.#again(lane)))
    else {
      for (const runNumber of runNumbers) lane.forget(runNumber)
      this.#again(lane)
    }
  }

  #again(lane: Lane): void {
    lane.hasMore = true
    this.#pump(lane)
  }

  async #settle(lane: Lane, run: WaitingRun, attempted: Attempted): Promise<void> {
    const { clock, owner, events } = this.#options
    const step = applyEvent(run.record, attempted.event, {
      now: clock.now(),
      retry: attempted.retry,
      chance: Math.random(),
    })
    if (step.kind === 'changed') {
      lane.settling++
      const settled = await this.#settler.settle({
        run,
        changed: step,
        dueAt: step.record.nextAttemptAt,
        attempt: attempted.log,
        leaseOwner: this.#isShared ? owner : null,
      })
      lane.settling--
      if (settled === 'refused') {
        // What came of it is kept: the attempt is not made again.
        const ms = this.#putOff(lane, run, () => this.#underWay.track(this.#settle(lane, run, attempted)))
        this.#underWay.track(this.#claims.keep(lane, run.runNumber, ms))
        if (lane.hasMore && lane.settling === 0) this.#pump(lane)
        return
      }
      if (settled === 'stored') {
        events.settled(lane, run, step)
        if (step.record.nextAttemptAt !== null) this.#timekeeper.wakeAt(step.record.nextAttemptAt)
      }
    }
    this.#setbacks.clear(run.runNumber)
    if (lane.forget(run.runNumber)) this.#again(lane)
    else if (lane.hasMore && lane.settling === 0) this.#pump(lane)
    this.#options.lanes.rest(lane)
  }

  async #findDestinations(isStart = false): Promise<void> {
    const { db, clock } = this.#options
    try {
      let after = 0
      for (;;) {
        const ids = await destinationsDue(db, after, DESTINATIONS_AT_ONCE, clock.now())
        await this.#open(ids, isStart)
        if (ids.length < DESTINATIONS_AT_ONCE || !this.#isRunning) break
        after = ids.at(-1) as number
      }
      this.#outages.looking.over('due callbacks are looked for again')
    } catch (error) {
      const message = 'due callbacks cannot be looked for; trying again until that works'
      this.#outages.looking.tell({ err: error }, message)
      this.#lookAt(clock.now() + AFTER_ERROR_MS * MICROS_PER_MS)
    }
    if (this.#isShared) this.#lookAt(clock.now() + LOOK_AROUND_MS * MICROS_PER_MS)
  }

  #lookAt(at: Micros): void {
    if (this.#isRunning) this.#lookAround.wakeAt(at, () => this.#underWay.track(this.#findDestinations()))
  }

  /** Destinations for which the database has something that is due. */
  async #open(destinationIds: readonly number[], isStart = false): Promise<void> {
    for (const [place, id] of destinationIds.entries()) {
      const lane = await this.#loader.load(id)
      if (lane === undefined) continue
      lane.hasMore = true
      if (isStart && place >= RESUMED_AT_ONCE) this.#pumpSoon(lane)
      else this.#pump(lane)
    }
  }

  #pumpSoon(lane: Lane): void {
    const inMs = Math.random() * RESUME_WITHIN_MS
    lane.wakeAt(this.#options.clock.now() + inMs * MICROS_PER_MS, () => this.#pump(lane))
  }

  async #giveBack(brokenOff: readonly number[]): Promise<void> {
    const queued = this.#options.lanes.all().flatMap((lane) => lane.queuedNumbers())
    if (this.#isShared) await this.#claims.giveBack([...brokenOff, ...queued])
  }
}
