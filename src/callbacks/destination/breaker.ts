import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

/** The section `breaker` of the settings; `open_for` is in milliseconds. */
export interface BreakerSettings {
  consecutive_failures: number
  open_for: number
  half_open_requests: number
}

export type BreakerState = 'closed' | 'open' | 'half_open'

/** The right to make one attempt; ends in exactly one `settle` or `release`. */
export interface BreakerPass {
  readonly generation: number
  readonly role: 'plain' | 'trial' | 'manual_trial'
}

export interface BreakerSnapshot {
  state: BreakerState
  openUntil: Micros | null
  consecutiveFailures: number
}

/** What a settled attempt did to the breaker, for whoever tells operators. */
export type BreakerChange = 'opened' | 'reopened' | 'closed' | null

/**
 * Leaves a failing destination alone. Closed until more than `consecutive_failures` retryable failures came in a row,
 * then open for `open_for`, then half-open: a few trials, which close it when all are good and open it again when one
 * is bad. A person may ask for one trial at any time.
 *
 * Every change of state begins a generation. Attempts that began in an earlier one say nothing about the present one:
 * a hundred requests in flight that fail after the sixth must not each open the breaker anew.
 */
export class Breaker {
  readonly #clock: Pick<Clock, 'now'>
  readonly #settings: () => BreakerSettings
  #generation = 0
  #failures = 0
  /** Null when closed; in the past when half-open. */
  #openUntil: Micros | null = null
  #trials = 0
  #goodTrials = 0
  #hasManualTrial = false

  /** The settings are read at each decision, so that a change holds for the next one. */
  constructor(clock: Pick<Clock, 'now'>, settings: () => BreakerSettings) {
    this.#clock = clock
    this.#settings = settings
  }

  get state(): BreakerState {
    if (this.#openUntil === null) return 'closed'
    return this.#clock.now() < this.#openUntil ? 'open' : 'half_open'
  }

  /** Whether it is as a new one is. */
  get isPristine(): boolean {
    return this.#openUntil === null && this.#failures === 0
  }

  /** Null when the attempt has to wait. `isManual`: a person asked for it, and one such trial at a time passes. */
  admit(isManual = false): BreakerPass | null {
    const { half_open_requests: mostTrials } = this.#settings()
    // Fewer are asked for than were when they were made: those that were good are enough, and no other one would come.
    if (this.#goodTrials >= mostTrials) this.#begin(null)
    const state = this.state
    if (state === 'closed') return { generation: this.#generation, role: 'plain' }
    if (state === 'half_open' && this.#trials + this.#goodTrials < mostTrials) {
      this.#trials++
      return { generation: this.#generation, role: 'trial' }
    }
    if (!isManual || this.#hasManualTrial) return null
    this.#hasManualTrial = true
    return { generation: this.#generation, role: 'manual_trial' }
  }

  /** `isFailure`: failed in a way that may pass. A refusal shows as well as a success that the destination is up. */
  settle(pass: BreakerPass, isFailure: boolean): BreakerChange {
    if (pass.generation !== this.#generation) return null
    this.release(pass)
    if (isFailure) return this.#fail()
    this.#failures = 0
    if (this.#openUntil === null) return null
    if (pass.role === 'trial' && ++this.#goodTrials < this.#settings().half_open_requests) return null
    this.#begin(null)
    return 'closed'
  }

  /** For an attempt that ended without telling anything: never sent, or aborted by us. */
  release(pass: BreakerPass): void {
    if (pass.generation !== this.#generation) return
    if (pass.role === 'trial') this.#trials--
    else if (pass.role === 'manual_trial') this.#hasManualTrial = false
  }

  /** Closes it by hand; what is in flight does not count any more. */
  reset(): void {
    this.#failures = 0
    this.#begin(null)
  }

  /** When attempts that wait are worth offering again; null when no time but an event decides, or nothing hinders. */
  get nextOfferAt(): Micros | null {
    return this.state === 'open' ? this.#openUntil : null
  }

  snapshot(): BreakerSnapshot {
    const state = this.state
    return { state, openUntil: state === 'open' ? this.#openUntil : null, consecutiveFailures: this.#failures }
  }

  /** Why runs for this destination are BLOCKED, null when they are not. */
  blockedReason(destination: string): string | null {
    const state = this.state
    if (state === 'closed') return null
    return `circuit breaker is ${state === 'open' ? 'open' : 'half-open'} for ${destination}`
  }

  #fail(): BreakerChange {
    this.#failures++
    const { consecutive_failures: tolerated, open_for: openForMs } = this.#settings()
    const wasClosed = this.#openUntil === null
    if (wasClosed && this.#failures <= tolerated) return null
    this.#begin(this.#clock.now() + openForMs * MICROS_PER_MS)
    return wasClosed ? 'opened' : 'reopened'
  }

  #begin(openUntil: Micros | null): void {
    this.#generation++
    this.#openUntil = openUntil
    this.#trials = 0
    this.#goodTrials = 0
    this.#hasManualTrial = false
  }
}
