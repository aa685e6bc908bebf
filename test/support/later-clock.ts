import { MICROS_PER_MS, type Micros, SystemClock } from '../../src/platform/clock/clock.ts'

const MS_PER_MINUTE = 60_000

/** Real time, some minutes later: what a process left behind is not its own any more. */
export class LaterClock extends SystemClock {
  readonly #later: Micros

  constructor(minutes: number) {
    super()
    this.#later = minutes * MS_PER_MINUTE * MICROS_PER_MS
  }

  override now(): Micros {
    return super.now() + this.#later
  }
}
