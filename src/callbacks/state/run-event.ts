import type { Micros } from '../../platform/clock/clock.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { RunRecord } from './run-record.ts'
import type { StoredFailure } from './stored-failure.ts'

/** What can happen to a run. A `tag` is the number of completed attempts that the attempt or timer was made for. */
export type RunEvent =
  | { readonly kind: 'attempt_succeeded'; readonly tag: number }
  | {
      readonly kind: 'attempt_failed'
      readonly tag: number
      readonly isRetryable: boolean
      readonly message: string
      /** What the receiver asked for, as a duration. */
      readonly retryAfterMicros?: number
    }
  | { readonly kind: 'backoff_due'; readonly tag: number }
  | { readonly kind: 'timeout_due' }
  | { readonly kind: 'terminate'; readonly requestId: string; readonly identity: string; readonly reason: string }
  | { readonly kind: 'retry_now' }

export interface StepContext {
  readonly now: Micros
  /** The server's policy as it is now; the run's own goes over it. */
  readonly retry: RetryPolicy
  /** A random number in [0, 1). */
  readonly chance: number
}

/** What has to be done once the change is durable. */
export type FollowUp =
  /** `isTrial`: asked for by hand, the breaker lets one through. */
  | { readonly kind: 'attempt'; readonly tag: number; readonly at: Micros; readonly isTrial: boolean }
  | { readonly kind: 'backoff_timer'; readonly tag: number; readonly at: Micros }
  | { readonly kind: 'timeout_timer'; readonly at: Micros }
  /** Cancel the timers, abort the request in flight; its result will be stale. */
  | { readonly kind: 'stop' }

export type TransitionName =
  | 'succeed'
  | 'back_off'
  | 'fail'
  | 'use_up_attempts'
  | 'schedule'
  | 'retry_now'
  | 'terminate'
  | 'time_out'

export interface Changed {
  readonly kind: 'changed'
  readonly transition: TransitionName
  readonly record: RunRecord
  /** Failures to write; what is absent stays as it is stored. */
  readonly failures: { readonly lastAttempt?: StoredFailure; readonly terminal?: StoredFailure }
  readonly followUps: readonly FollowUp[]
}

export type Step =
  | Changed
  /**
   * Nothing to write. `stale` and `closed`: drop it. `early`: the timer is not due, set it again. `repeated`: this
   * request has terminated the run already. `scheduled`: an attempt is queued or in flight.
   */
  | {
      readonly kind: 'unchanged'
      readonly reason: 'stale' | 'closed' | 'early' | 'repeated' | 'scheduled'
      readonly followUps: readonly FollowUp[]
    }
  /** A request that the state does not allow: a failed precondition, `message` is for the caller. */
  | { readonly kind: 'refused'; readonly message: string }
