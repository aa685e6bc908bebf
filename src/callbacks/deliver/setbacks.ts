import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

const FIRST_MS = 1_000
const LONGEST_MS = 60_000
// What is forgotten beyond this number is tried again after the shortest time.
const MOST = 10_000

interface Setback {
  pauseMs: number
  until: Micros
}

/** How long what failed is left alone, each for itself: a second, then twice as long each time, at most a minute. */
export class Setbacks {
  readonly #clock: Pick<Clock, 'now'>
  readonly #known = new Map<number, Setback>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Until when it is left alone; null when it may be tried. */
  until(key: number): Micros | null {
    const setback = this.#known.get(key)
    return setback === undefined || setback.until <= this.#clock.now() ? null : setback.until
  }

  /** It failed once more. Answers for how many milliseconds it is left alone now. */
  add(key: number): number {
    const before = this.#known.get(key)
    const pauseMs = before === undefined ? FIRST_MS : Math.min(LONGEST_MS, before.pauseMs * 2)
    if (before === undefined && this.#known.size >= MOST) this.#known.clear()
    this.#known.set(key, { pauseMs, until: this.#clock.now() + pauseMs * MICROS_PER_MS })
    return pauseMs
  }

  /** It worked, or is gone. */
  clear(key: number): void {
    if (this.#known.size > 0) this.#known.delete(key)
  }
}
