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

// setTimeout fires at once for a delay above 2^31-1 ms; a later time is reached in hops.
const LONGEST_TIMER_MS = 2_147_483_647

export class SystemClock implements Clock {
  readonly #originMs = performance.timeOrigin
  #last = 0

  now(): Micros {
    const micros = Math.round((this.#originMs + performance.now()) * MICROS_PER_MS)
    this.#last = micros > this.#last ? micros : this.#last + 1
    return this.#last
  }

  elapsedMs(): number {
    return performance.now()
  }

  after(ms: number, callback: () => void): () => void {
    let timer: NodeJS.Timeout
    const arm = (left: number) => {
      const hop = Math.min(left, LONGEST_TIMER_MS)
      timer = setTimeout(() => (left > hop ? arm(left - hop) : callback()), Math.max(0, hop))
      timer.unref()
    }
    arm(ms)
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
  const timer = setInterval(() => {}, LONGEST_TIMER_MS)
  return () => clearInterval(timer)
}

let writtenMs = Number.NaN
let written = ''

/** RFC 3339 in UTC with milliseconds, as every surface writes times. The last one is kept: what is new has two alike. */
export function toRfc3339(at: Micros): string {
  const ms = Math.floor(at / MICROS_PER_MS)
  if (ms === writtenMs) return written
  written = new Date(ms).toISOString()
  writtenMs = ms
  return written
}
