import type { Micros } from '../../platform/clock/clock.ts'
import { StartRate } from './start-rate.ts'

/** The section `destination` of the settings, or what an operator set for this destination. */
export interface LimitSettings {
  concurrency: number
  /** 0 is no limit. */
  rps: number
}

/** Whether another attempt may begin: at once, at a time, or when one of those in flight ends. */
export type StartAllowance = 'now' | 'when_one_ends' | { at: Micros }

/** The load on one destination: attempts at a time and starts per second. Waiting is not an attempt. */
export class DestinationLimits {
  readonly #settings: () => LimitSettings
  readonly #rate = new StartRate()
  #inFlight = 0

  /** The settings are read at each decision, so that a change holds for the next one. */
  constructor(settings: () => LimitSettings) {
    this.#settings = settings
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Takes nothing, so that the breaker may be asked in between. */
  allowance(now: Micros): StartAllowance {
    const { concurrency, rps } = this.#settings()
    if (this.#inFlight >= concurrency) return 'when_one_ends'
    const at = this.#rate.freeAt(rps, now)
    return at > now ? { at } : 'now'
  }

  /** Counts a start, allowed or not; each one ends in `end`. */
  begin(now: Micros): void {
    this.#inFlight++
    this.#rate.add(this.#settings().rps, now)
  }

  end(): void {
    if (this.#inFlight === 0) throw new Error('More attempts ended at a destination than began.')
    this.#inFlight--
  }
}
