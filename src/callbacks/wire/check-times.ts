import type { RetryPolicy } from '../../gen/commonplace/retry/v1/retry_policy_pb.js'
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { GivenRetryPolicy } from '../state/run-record.ts'
import { cutDuration } from '../state/schedule-to-close.ts'
import { durationMicros, findDurationProblem } from './duration.ts'
import { invalid } from './invalid.ts'
import type { Duration } from './messages.ts'

/** Whole microseconds of at most a hundred years; 0 when absent. */
export function checkDuration(name: string, duration: Duration | undefined): number {
  if (duration === undefined) return 0
  const problem = findDurationProblem(duration)
  if (problem !== undefined) throw invalid(`${name} ${problem}`)
  if (duration.seconds < 0n || duration.nanos < 0) throw invalid(`${name} must not be negative`)
  return cutDuration(durationMicros(duration))
}

/** Null when nothing is asked for that differs from the server's policy. */
export function checkRetryPolicy(policy: RetryPolicy | undefined): GivenRetryPolicy | null {
  if (policy === undefined) return null
  const initialMicros = checkDuration('retry_policy.initial_interval', policy.initialInterval)
  const maximumMicros = checkDuration('retry_policy.maximum_interval', policy.maximumInterval)
  const { backoffCoefficient: coefficient, maximumAttempts } = policy
  if (initialMicros > 0 && initialMicros < MICROS_PER_MS) {
    throw invalid('retry_policy.initial_interval must be at least 0.001s')
  }
  if (maximumMicros > 0 && maximumMicros < Math.max(initialMicros, MICROS_PER_MS)) {
    throw invalid('retry_policy.maximum_interval must be at least 0.001s and not shorter than initial_interval')
  }
  if (coefficient !== 0 && !(coefficient >= 1 && coefficient < Number.POSITIVE_INFINITY)) {
    throw invalid('retry_policy.backoff_coefficient must be a number of at least 1')
  }
  if (maximumAttempts < 0) throw invalid('retry_policy.maximum_attempts must not be negative')
  const given = { initialMicros, maximumMicros, coefficient, maximumAttempts }
  return Object.values(given).every((value) => value === 0) ? null : given
}
