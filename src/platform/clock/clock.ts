/**
 * The only source of time. Everything that waits or stamps takes a Clock, so a test can drive it.
 * Stored times are integer microseconds since the epoch: they fit a JS number until the year 2255.
 */
export type Micros = number

export interface Clock {
  /** Microseconds since the epoch. Never goes back within one process. */
  now(): Micros
  /** Monotonic milliseconds, for measuring. */
  elapsedMs(): number
  /** Calls back once after `ms`; the answer cancels it. Never keeps the process alive by itself. */
  after(ms: number, callback: () => void): () => void
}

export const MICROS_PER_MS = 1_000
export const MICROS_PER_SECOND = 1_000_000
const MS_PER_SECOND = 1_000

// What two clocks may differ by before one follows the other: they are slewed a little all the time.
const TOLERATED_MS = 1_000
// One that was set back by more is not followed: until it came to where it was, no time would pass here.
const MOST_BACK_MS = 60_000
// Timers do not count while a machine sleeps: long ones look now and then whether their time is over.
const LONGEST_HOP_MS = 60_000

/** What a machine tells of time. */
export interface MachineTime {
  /** What `wallMs` was when `elapsedMs` was 0. */
  originMs: number
  /** Milliseconds since the epoch. May be set, forwards and back. */
  wallMs(): number
  /** Milliseconds since whenever, at an even pace. May stand still while the machine sleeps. */
  elapsedMs(): number
}

const THIS_MACHINE: MachineTime = {
  originMs: performance.timeOrigin,
  wallMs: () => Date.now(),
  elapsedMs: () => performance.now(),
}

/**
 * Counts finely from where it began, and follows when the machine's clock was set or the machine slept. Several processes that compare
 * times are told one time instead: see `begin`.
 */
export class SystemClock implements Clock {
  readonly #machine: MachineTime
  #originMs: number
  #isTold = false
  #last = 0
  /** While it is told the time: what `wallMs` was when `elapsedMs` was 0, as the machine said last. */
  #machineOriginMs = 0
  /** The machine's clock was set, or the machine slept: whoever tells the time should do so again. */
  onJump: () => void = () => {}
  /** While it is not told the time: the machine's clock was set back too far to be followed, and this one is ahead. Once each time. */
  onLeftBehind: () => void = () => {}
  #isAhead = false

  constructor(machine: MachineTime = THIS_MACHINE) {
    this.#machine = machine
    this.#originMs = machine.originMs
  }

  now(): Micros {
    const elapsedMs = this.#machine.elapsedMs()
    const machineOriginMs = this.#machine.wallMs() - elapsedMs
    if (!this.#isTold) this.#followMachine(machineOriginMs)
    else if (Math.abs(machineOriginMs - this.#machineOriginMs) > TOLERATED_MS) {
      this.#machineOriginMs = machineOriginMs
      this.onJump()
    }
    const micros = Math.round((this.#originMs + elapsedMs) * MICROS_PER_MS)
    this.#last = micros > this.#last ? micros : this.#last + 1
    return this.#last
  }

  elapsedMs(): number {
    return this.#machine.elapsedMs()
  }

  /** Milliseconds since the epoch as this machine tells them. */
  machineMs(): number {
    return this.#machine.wallMs()
  }

  /** It is so late, in milliseconds since the epoch, whatever the machine says. Nothing was stamped yet: it may go back. */
  begin(nowMs: number): void {
    this.#isTold = true
    this.#machineOriginMs = this.#machine.wallMs() - this.#machine.elapsedMs()
    this.#originMs = nowMs - this.#machine.elapsedMs()
    this.#last = 0
  }

  /** The same later on. False when that is too long ago to go back to. */
  correct(nowMs: number): boolean {
    return this.#follow(nowMs - this.#machine.elapsedMs())
  }

  #followMachine(originMs: number): void {
    const wasAhead = this.#isAhead
    this.#isAhead = !this.#follow(originMs)
    if (this.#isAhead && !wasAhead) this.onLeftBehind()
  }

  #follow(originMs: number): boolean {
    const lateMs = originMs - this.#originMs
    if (lateMs < -MOST_BACK_MS) return false
    if (Math.abs(lateMs) > TOLERATED_MS) this.#originMs = originMs
    return true
  }

  after(ms: number, callback: () => void): () => void {
    if (ms > LONGEST_HOP_MS) return this.#afterLong(ms, callback)
    const timer = setTimeout(callback, Math.max(0, ms)).unref()
    return () => clearTimeout(timer)
  }

  /** By either count: while a machine sleeps only the time of day goes on, and that may be set back. */
  #afterLong(ms: number, callback: () => void): () => void {
    const endAt = this.now() + ms * MICROS_PER_MS
    const endMs = this.elapsedMs() + ms
    let timer: NodeJS.Timeout
    const hop = () => {
      const leftMs = Math.min((endAt - this.now()) / MICROS_PER_MS, endMs - this.elapsedMs())
      if (leftMs <= 0) callback()
      else timer = setTimeout(hop, Math.min(leftMs, LONGEST_HOP_MS)).unref()
    }
    hop()
    return () => clearTimeout(timer)
  }
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    function onAbort() {
      cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Whether the promise settles within `ms`: false as soon as the time is over, the promise's own rejection before. */
export async function settlesWithin(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const cancel = clock.after(ms, () => resolve(false))
  return Promise.race([promise.then(() => true), late]).finally(cancel)
}

/** Keeps the process from ending while something waits that the event loop does not know of; the answer lets it go. */
export function holdProcess(): () => void {
  const timer = setInterval(() => {}, LONGEST_HOP_MS)
  return () => clearInterval(timer)
}

let writtenSecond = Number.NaN
let written = ''

/** RFC 3339 in UTC with milliseconds, as every surface writes times. The last second is kept: what is new has many alike. */
export function toRfc3339(at: Micros): string {
  const ms = Math.floor(at / MICROS_PER_MS)
  const second = Math.floor(ms / MS_PER_SECOND)
  if (second !== writtenSecond) {
    written = new Date(second * MS_PER_SECOND).toISOString().slice(0, -4)
    writtenSecond = second
  }
  return `${written}${String(ms - second * MS_PER_SECOND).padStart(3, '0')}Z`
}

export function toRfc3339OrNull(at: Micros | null): string | null {
  return at === null ? null : toRfc3339(at)
}
