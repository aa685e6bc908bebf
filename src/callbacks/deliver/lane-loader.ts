import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Lane } from './lane.ts'
import type { Lanes } from './lanes.ts'
import { Setbacks } from './setbacks.ts'

export interface LaneLoaderOptions {
  lanes: Lanes
  clock: Clock
  log: Logger
  /** Told when what is due at a destination that has to wait should be looked for again. */
  onWait(until: Micros): void
}

/** Opens the lanes of destinations. One that cannot be loaded is left alone for a while, and no other one waits for it. */
export class LaneLoader {
  readonly #options: LaneLoaderOptions
  readonly #setbacks: Setbacks

  constructor(options: LaneLoaderOptions) {
    this.#options = options
    this.#setbacks = new Setbacks(options.clock)
  }

  /** Undefined when there is no such destination, or it has to wait. */
  async load(destinationId: number): Promise<Lane | undefined> {
    const { lanes, clock, log, onWait } = this.#options
    const until = this.#setbacks.until(destinationId)
    if (until !== null) {
      onWait(until)
      return undefined
    }
    try {
      const lane = await lanes.load(destinationId)
      this.#setbacks.clear(destinationId)
      return lane
    } catch (error) {
      log.error({ err: error, destinationId }, 'a destination could not be loaded, its callbacks wait')
      onWait(clock.now() + this.#setbacks.add(destinationId) * MICROS_PER_MS)
      return undefined
    }
  }
}
