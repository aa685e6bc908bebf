import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { GivenRetryPolicy } from './run-record.ts'
import { LONGEST_MICROS } from './schedule-to-close.ts'

export interface RetryPolicy {
  readonly initialMicros: number
  readonly maximumMicros: number
  readonly coefficient: number
  /** Part of the delay that chance may take away, 0 to 1. */
  readonly jitter: number
  /** Infinity: no limit but that of the counter. */
  readonly maximumAttempts: number
}

/** `attempt` is an int32 on the wire: a run that got there has used up its attempts, whatever its policy says. */
const MOST_ATTEMPTS = 2_147_483_647

/** For events after which nothing is attempted again. */
export const NO_RETRY: RetryPolicy = {
  initialMicros: 1,
  maximumMicros: 1,
  coefficient: 1,
  jitter: 0,
  maximumAttempts: 1,
}

/** The section `retry` of the settings, whose durations are milliseconds. */
export function retryPolicyOf(settings: {
  initial_interval: number
  max_interval: number
  coefficient: number
  jitter: number
}): RetryPolicy {
  return {
    initialMicros: settings.initial_interval * MICROS_PER_MS,
    maximumMicros: settings.max_interval * MICROS_PER_MS,
    coefficient: settings.coefficient,
    jitter: settings.jitter,
    maximumAttempts: Number.POSITIVE_INFINITY,
  }
}

/** The server's policy with what the run says put over it. An own first delay above the server's longest one raises that. */
export function withGiven(server: RetryPolicy, given: GivenRetryPolicy | null): RetryPolicy {
  if (given === null) return server
  const initialMicros = given.initialMicros || server.initialMicros
  return {
    initialMicros,
    maximumMicros: given.maximumMicros || Math.max(server.maximumMicros, given.initialMicros || 0),
    coefficient: given.coefficient || server.coefficient,
    jitter: server.jitter,
    maximumAttempts: given.maximumAttempts || server.maximumAttempts,
  }
}

/** The delay after the n-th completed attempt without chance: the first is `initialMicros`. */
function baseDelayMicros(attempt: number, policy: RetryPolicy): number {
  // The exponent is capped because coefficient ** 1e6 is Infinity, and Infinity times 0 is NaN.
  const growth = Math.max(1, policy.coefficient) ** Math.min(Math.max(attempt, 1) - 1, 1_000)
  const most = Math.min(policy.maximumMicros, LONGEST_MICROS)
  return Math.max(1, Math.round(Math.min(policy.initialMicros * growth, most)))
}

/**
 * Whole microseconds, uniformly in [(1 - jitter) x base, base), so that runs that failed together do not return
 * together. `chance` is a random number in [0, 1). A receiver that asks for more gets it, up to the longest delay.
 */
export function retryDelayMicros(
  attempt: number,
  policy: RetryPolicy,
  chance: number,
  retryAfterMicros: number = 0,
): number {
  const base = baseDelayMicros(attempt, policy)
  const least = Math.ceil(base * (1 - policy.jitter))
  const delay = Math.max(1, least + Math.floor(chance * (base - least)))
  if (!(retryAfterMicros > delay)) return delay
  return Math.max(delay, Math.ceil(Math.min(retryAfterMicros, policy.maximumMicros, LONGEST_MICROS)))
}

export function isLastAttempt(attempt: number, policy: RetryPolicy): boolean {
  return attempt >= Math.min(policy.maximumAttempts, MOST_ATTEMPTS)
}
