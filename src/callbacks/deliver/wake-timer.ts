import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

// Times of day come sooner where the clock is set forward or the machine slept, which no timer notices.
const LONGEST_HOP_MS = 5_000

/** Calls back at the earliest of the times it was told, once. */
export class WakeTimer {
  readonly #clock: Clock
  #at: Micros | null = null
  #cancel: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whoever asks first for the earliest time is called; a later time that is asked for meanwhile is dropped. */
  wakeAt(at: Micros, callback: () => void): void {
    if (this.#at !== null && this.#at <= at) return
    this.#cancel?.()
    this.#at = at
    this.#hop(at, callback)
  }

  #hop(at: Micros, callback: () => void): void {
    // Timers count whole milliseconds and may ring a little early, when what they are for is not due yet.
    const ms = Math.ceil((at - this.#clock.now()) / MICROS_PER_MS) + 1
    if (ms > LONGEST_HOP_MS) {
      this.#cancel = this.#clock.after(LONGEST_HOP_MS, () => this.#hop(at, callback))
      return
    }
    this.#cancel = this.#clock.after(Math.max(0, ms), () => {
      this.#at = null
      this.#cancel = null
      callback()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#at = null
  }
}
