import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Settlement, StoredRun, WaitingRun } from '../run/run.ts'
import { writeTransitions } from '../run/store-transition.ts'
import { applyEvent } from '../state/apply-event.ts'
import { NO_RETRY } from '../state/retry-policy.ts'
import type { RunEvent } from '../state/run-event.ts'
import { Setbacks } from './setbacks.ts'
import { backoffsDue, delayedDue, nextDue, timeoutsDue } from './store-due.ts'
import { WakeTimer } from './wake-timer.ts'
import { writeInParts } from './write-in-parts.ts'

const AT_ONCE = 250
const AFTER_ERROR_MS = 1_000
// On PostgreSQL times that other processes wrote are not known here: this often they are asked for.
const LONGEST_SLEEP_MS = 5_000

export interface TimekeeperOptions {
  db: Database
  clock: Clock
  log: Logger
  /** A backoff is over: the run is SCHEDULED. */
  onDue(run: WaitingRun): void
  /** First attempts that were put off are due at these destinations. */
  onStarted(destinationIds: readonly number[]): void
  onTimedOut(run: StoredRun): void
}

/** Lets time pass for runs: ends backoffs and applies timeouts, the timeouts first. Sleeps until the next one. */
export class Timekeeper {
  readonly #options: TimekeeperOptions
  readonly #timer: WakeTimer
  readonly #outage: OutageLog
  #seenUntil: Micros = 0
  /** Of runs whose transition the database refused. */
  readonly #refused: Setbacks
  /** Whether some of them are due. */
  #isHeldUp = false
  #isStopped = false
  #ticking: Promise<void> | null = null
  /** The timer rang during a look, which may have been past the place where that would have been seen. */
  #hasRung = false

  constructor(options: TimekeeperOptions) {
    this.#options = options
    this.#timer = new WakeTimer(options.clock)
    this.#outage = new OutageLog(options.log)
    this.#refused = new Setbacks(options.clock)
  }

  async start(): Promise<void> {
    this.#isStopped = false
    await this.#tick()
  }

  wakeAt(at: Micros): void {
    if (!this.#isStopped) this.#timer.wakeAt(at, () => this.#ring())
  }

  stop(): void {
    this.#isStopped = true
    this.#timer.stop()
  }

  /** NOTE Not lost during a look: a backoff can be over before it is stored, and whoever stored it says so once. */
  #ring(): void {
    if (this.#ticking === null) void this.#tick()
    else this.#hasRung = true
  }

  #tick(): Promise<void> {
    this.#ticking ??= this.#passTime().finally(() => {
      this.#ticking = null
      const hasRung = this.#hasRung
      this.#hasRung = false
      if (hasRung && !this.#isStopped) void this.#tick()
    })
    return this.#ticking
  }

  async #passTime(): Promise<void> {
    const { db, clock } = this.#options
    this.#isHeldUp = false
    try {
      const now = clock.now()
      await this.#timeOut(now)
      await this.#endBackoffs(now)
      const started = await delayedDue(db, this.#seenUntil, now)
      this.#seenUntil = now
      if (started.length > 0) this.#options.onStarted(started)
      const next = await nextDue(db, now)
      // A deadline that is over and stays so hides those behind it.
      if (this.#isHeldUp) this.wakeAt(now + AFTER_ERROR_MS * MICROS_PER_MS)
      if (next !== null && !(this.#isHeldUp && next <= now)) this.wakeAt(next)
      if (db.engine === 'postgres') this.wakeAt(now + LONGEST_SLEEP_MS * MICROS_PER_MS)
      this.#outage.over('timeouts and backoffs of callbacks are applied again')
    } catch (error) {
      const message = 'timeouts and backoffs of callbacks cannot be applied; trying again until that works'
      this.#outage.tell({ err: error }, message)
      this.wakeAt(clock.now() + AFTER_ERROR_MS * MICROS_PER_MS)
    }
  }

  #timeOut(now: Micros): Promise<void> {
    return this.#throughAll(timeoutsDue, now, (runs) =>
      this.#apply(
        runs,
        () => ({ kind: 'timeout_due' }),
        now,
        ({ run }) => this.#options.onTimedOut(run),
      ),
    )
  }

  #endBackoffs(now: Micros): Promise<void> {
    const eventOf = (run: StoredRun): RunEvent => ({ kind: 'backoff_due', tag: run.record.attempt })
    const onWon = ({ run, changed }: Settlement) => this.#options.onDue({ ...run, record: changed.record })
    return this.#throughAll(backoffsDue, now, (runs) => this.#apply(runs, eventOf, now, onWon))
  }

  /** Those that are refused stay due, in front of the others. */
  async #throughAll(
    look: typeof timeoutsDue,
    now: Micros,
    apply: (runs: readonly StoredRun[]) => Promise<void>,
  ): Promise<void> {
    let due = await look(this.#options.db, now, AT_ONCE)
    for (;;) {
      await apply(this.#tried(due.runs))
      if (due.next === null || this.#isStopped) return
      due = await look(this.#options.db, now, AT_ONCE, due.next)
    }
  }

  /** Without those that the database refused a moment ago. */
  #tried(runs: readonly StoredRun[]): StoredRun[] {
    const tried = runs.filter(({ runNumber }) => this.#refused.until(runNumber) === null)
    if (tried.length < runs.length) this.#isHeldUp = true
    return tried
  }

  async #apply(
    runs: readonly StoredRun[],
    eventOf: (run: StoredRun) => RunEvent,
    now: Micros,
    onWon: (settlement: Settlement) => void,
  ): Promise<void> {
    const settlements = runs.flatMap((run): Settlement[] => {
      const step = applyEvent(run.record, eventOf(run), { now, retry: NO_RETRY, chance: 0 })
      if (step.kind !== 'changed') return []
      return [
        { run, changed: step, dueAt: step.record.closedAt === null ? now : null, attempt: null, leaseOwner: null },
      ]
    })
    const { db, log } = this.#options
    await writeInParts(settlements, {
      write: (part) =>
        writeTransitions(db, part, (won) => {
          for (const one of part) if (won.has(one.run.runNumber)) onWon(one)
        }),
      onSettled: ({ run: { runNumber, runId } }, settled, error) => {
        if (settled === 'refused') {
          log.error({ err: error, runId }, 'a timeout or the end of a backoff is refused by the database')
          this.#refused.add(runNumber)
          this.#isHeldUp = true
          return
        }
        this.#refused.clear(runNumber)
      },
    })
  }
}
