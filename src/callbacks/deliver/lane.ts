import type { Clock, Micros } from '../../platform/clock/clock.ts'
import { GiveUp, type GiveUpSignal } from '../../platform/outbound/give-up.ts'
import { Breaker, type BreakerPass, type BreakerSettings } from '../destination/breaker.ts'
import { DestinationLimits, type LimitSettings } from '../destination/limits.ts'
import type { WaitingRun } from '../run/run.ts'
import { WakeTimer } from './wake-timer.ts'

export interface LaneSettings {
  /** The name of the namespace. */
  namespace: string
  limits: LimitSettings
  breaker: BreakerSettings
  /** Why nothing is sent there, whatever its health is: somebody decided so. */
  heldBy: string | null
  requestTimeoutMs: number
}

// Runs in the queue on SQLite, beside those in flight. They are small: large inputs are read when they are sent.
const WINDOW = 256
// Of a lane that takes none: there may be many of those.
const BLOCKED_WINDOW = 8
// A claim is one statement; more would make the first of them wait.
const MOST_CLAIMED = 100
// Large inputs are sent fewer at a time, so that memory stays bounded.
export const MOST_BYTES = 32 * 1024 * 1024
// What is kept free for one whose size is not known yet: the most that a start takes, unless settings say otherwise.
const UNKNOWN_BYTES = 2 * 1024 * 1024
// Runs that are put off wait in memory. So many at a time have a reason in common, and others would only join them.
const MOST_PUT_OFF = 1_000

/** Why the next attempt has to wait: for a time, for something that happens, or there is none. */
export type NextStart =
  | { kind: 'go'; run: WaitingRun; pass: BreakerPass }
  | { kind: 'wait'; until: Micros | null }
  | { kind: 'empty' }

/**
 * All attempts at one destination of one namespace, and nothing that another destination could wait for. A few of the
 * runs that are due lie in its queue; `hasMore` says that the database knows of others.
 */
export class Lane {
  readonly destinationId: number
  readonly destination: string
  readonly limits: DestinationLimits
  readonly breaker: Breaker
  /** As they are now: replaced when something of them changes. */
  settings: LaneSettings
  hasMore = false
  isLoading = false
  /** Attempts that ended and are not stored yet. */
  settling = 0
  /** Runs asked for by hand that are being read. */
  trialsSought = 0
  /** Runs whose attempt could not be made, or its result not stored: known, and nowhere until their time comes. */
  putOff = 0
  /** Of the inputs in flight, from before they are read. */
  bytes = 0
  /** The largest one of those that were claimed last. */
  #largestClaimed = 0
  readonly #queue: WaitingRun[] = []
  /** Asked for by hand: they go first, and one passes a breaker that is not closed. */
  readonly #trials = new Set<number>()
  /** Queued, in flight or about to be stored: not to be taken again. */
  readonly #known = new Set<number>()
  /** Offered while they were known: by somebody who has seen what came of an attempt before this process stored it away. */
  readonly #offeredAgain = new Set<number>()
  readonly #requests = new Map<number, GiveUp>()
  /** How many in flight are sent as more than was set aside for them. */
  #grown = 0
  /** Those that would be, in the order in which they get the memory. */
  readonly #growing: { more: number; go: () => void }[] = []
  readonly #clock: Clock
  readonly #timer: WakeTimer

  constructor({ id, destination }: { id: number; destination: string }, clock: Clock, settings: LaneSettings) {
    this.destinationId = id
    this.destination = destination
    this.#clock = clock
    this.settings = settings
    this.#timer = new WakeTimer(clock)
    this.limits = new DestinationLimits(() => this.settings.limits)
    this.breaker = new Breaker(clock, () => this.settings.breaker)
  }

  get queued(): number {
    return this.#queue.length
  }

  queuedNumbers(): number[] {
    return this.#queue.map(({ runNumber }) => runNumber)
  }

  get inFlight(): number {
    return this.limits.inFlight
  }

  get known(): ReadonlySet<number> {
    return this.#known
  }

  /** Whether there is nothing to do. What is lost when the lane is forgotten is what its breaker knows. */
  get isIdle(): boolean {
    return this.#known.size === 0 && !this.hasMore && !this.isLoading && this.trialsSought === 0
  }

  /** Whether nothing more is to be taken until some of those that were put off are tried again. */
  get isStuck(): boolean {
    return this.putOff >= MOST_PUT_OFF
  }

  get namespace(): string {
    return this.settings.namespace
  }

  get requestTimeoutMs(): number {
    return this.settings.requestTimeoutMs
  }

  /** How many more the queue takes. */
  room(): number {
    if (this.isStuck) return 0
    return (this.blockedReason() === null ? WINDOW : BLOCKED_WINDOW) - this.queued
  }

  /** How many attempts could begin now: what is claimed from other processes must not lie about. */
  claimable(): number {
    if (this.settings.heldBy !== null || this.isStuck || this.#queue.length > 0) return 0
    if (this.limits.allowance(this.#clock.now()) !== 'now') return 0
    const { state } = this.breaker
    const { limits, breaker } = this.settings
    const room = limits.concurrency - this.limits.inFlight
    if (state === 'open') return 0
    const perSecond = limits.rps > 0 ? Math.ceil(limits.rps) : Number.POSITIVE_INFINITY
    const most = Math.min(MOST_CLAIMED, state === 'half_open' ? breaker.half_open_requests : perSecond)
    const fitting = Math.floor((MOST_BYTES - this.bytes) / Math.max(1, this.#largestClaimed))
    const count = Math.max(0, Math.min(room, most, this.bytes === 0 ? Math.max(1, fitting) : fitting))
    // A claim costs the database nearly the same for one as for many: while results are stored, more attempts end.
    return this.settling > 0 && count * 2 < Math.min(limits.concurrency, MOST_CLAIMED) ? 0 : count
  }

  /** How many of these, from the first on, there is memory for: the others must not lie about, either. */
  fitting(runs: readonly WaitingRun[]): number {
    this.#largestClaimed = Math.max(0, ...runs.map(bytesOf))
    let { bytes } = this
    const most = runs.findIndex((run) => {
      const hasRoom = bytes === 0 || bytes + bytesOf(run) <= MOST_BYTES
      bytes += bytesOf(run)
      return !hasRoom
    })
    return most < 0 ? runs.length : most
  }

  /** When waiting is over, as far as a time decides. */
  get nextOfferAt(): Micros | null {
    const allowance = this.limits.allowance(this.#clock.now())
    return typeof allowance === 'object' ? allowance.at : this.breaker.nextOfferAt
  }

  wakeAt(at: Micros, callback: () => void): void {
    this.#timer.wakeAt(at, callback)
  }

  /** It is forgotten. */
  close(): void {
    this.#timer.stop()
  }

  blockedReason(): string | null {
    return this.settings.heldBy ?? this.breaker.blockedReason(this.destination)
  }

  /** False when it is there already. */
  add(run: WaitingRun, isTrial = false): boolean {
    if (this.#known.has(run.runNumber)) {
      this.#offeredAgain.add(run.runNumber)
      if (isTrial) this.#preferQueued(run.runNumber)
      return false
    }
    this.#known.add(run.runNumber)
    if (isTrial) {
      this.#trials.add(run.runNumber)
      this.#queue.unshift(run)
    } else this.#queue.push(run)
    return true
  }

  next(): NextStart {
    const run = this.#queue[0]
    if (run === undefined) return { kind: 'empty' }
    if (this.settings.heldBy !== null) return { kind: 'wait', until: null }
    if (this.bytes > 0 && this.bytes + bytesOf(run) > MOST_BYTES) return { kind: 'wait', until: null }
    const allowance = this.limits.allowance(this.#clock.now())
    if (allowance === 'when_one_ends') return { kind: 'wait', until: null }
    if (allowance !== 'now') return { kind: 'wait', until: allowance.at }
    const pass = this.breaker.admit(this.#trials.has(run.runNumber))
    if (pass === null) return { kind: 'wait', until: this.breaker.nextOfferAt }
    this.#queue.shift()
    this.#trials.delete(run.runNumber)
    return { kind: 'go', run, pass }
  }

  begin(run: WaitingRun): GiveUpSignal {
    const giveUp = new GiveUp()
    this.#requests.set(run.runNumber, giveUp)
    this.limits.begin(this.#clock.now())
    this.bytes += bytesOf(run)
    return giveUp
  }

  end(run: WaitingRun): void {
    this.#requests.delete(run.runNumber)
    this.limits.end()
    this.bytes -= bytesOf(run)
    this.#letGrow()
  }

  /**
   * A run in flight needs so much more than was set aside for it, or less, until `giveRoom` is told the same. What needs more
   * waits for memory, except that one always goes. Rejects when the signal is aborted meanwhile.
   */
  async makeRoom(more: number, signal: GiveUpSignal): Promise<void> {
    if (more <= 0) {
      this.bytes += more
      this.#letGrow()
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const growing = { more, go: resolve }
    this.#growing.push(growing)
    this.#letGrow()
    if (!this.#growing.includes(growing)) return
    signal.addEventListener('abort', resolve)
    if (!signal.aborted) await promise
    signal.removeEventListener('abort', resolve)
    const at = this.#growing.indexOf(growing)
    if (at < 0) return
    this.#growing.splice(at, 1)
    this.#letGrow()
    throw signal.reason
  }

  giveRoom(more: number): void {
    this.bytes -= more
    if (more > 0) this.#grown--
    this.#letGrow()
  }

  /**
   * The run may be taken again: what came of it is stored, or it is dropped. True when it was offered meanwhile, and what
   * the database has of it has to be looked at.
   */
  forget(runNumber: number): boolean {
    this.#known.delete(runNumber)
    return this.#offeredAgain.delete(runNumber)
  }

  /** It takes none now: keeps the first few of the queue; the numbers of the others, which stay known. */
  shrink(): number[] {
    const dropped = this.#queue.splice(BLOCKED_WINDOW).map(({ runNumber }) => runNumber)
    for (const runNumber of dropped) this.#trials.delete(runNumber)
    return dropped
  }

  /** Takes those out of the queue that another process may attempt before `at`. They stay known. */
  takeLapsed(at: Micros): number[] {
    const lapsed = this.#queue.filter(({ leasedUntil }) => leasedUntil !== undefined && leasedUntil < at)
    for (const run of lapsed) {
      this.#queue.splice(this.#queue.indexOf(run), 1)
      this.#trials.delete(run.runNumber)
    }
    return lapsed.map(({ runNumber }) => runNumber)
  }

  /** Somebody closed the run: it leaves the queue, or its request is broken off. */
  stop(runNumber: number): void {
    const at = this.#queue.findIndex((run) => run.runNumber === runNumber)
    if (at >= 0) {
      this.#queue.splice(at, 1)
      this.#trials.delete(runNumber)
      this.forget(runNumber)
    }
    this.#requests.get(runNumber)?.abort(new Error('the run was closed meanwhile'))
  }

  /** The server stops: every request is broken off. The numbers of their runs. */
  breakOff(): number[] {
    const reason = new Error('the server stops')
    for (const request of [...this.#requests.values()]) request.abort(reason)
    return [...this.#requests.keys()]
  }

  #letGrow(): void {
    for (let next = this.#growing[0]; next !== undefined; next = this.#growing[0]) {
      const { more, go } = next
      if (this.#grown > 0 && this.bytes + more > MOST_BYTES) return
      this.#growing.shift()
      this.bytes += more
      this.#grown++
      go()
    }
  }

  #preferQueued(runNumber: number): void {
    const at = this.#queue.findIndex((run) => run.runNumber === runNumber)
    const [run] = at < 0 ? [] : this.#queue.splice(at, 1)
    if (run === undefined) return
    this.#trials.add(runNumber)
    this.#queue.unshift(run)
  }
}

/** What is set aside of the lane's memory for an attempt, before its input is read. */
export function bytesOf({ completionBytes = UNKNOWN_BYTES }: WaitingRun): number {
  return completionBytes
}
