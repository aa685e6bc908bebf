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
}

export type Step =
  | Changed
  /**
   * Nothing to write. `stale` and `closed`: drop it. `early`: its time has not come. `repeated`: this
   * request has terminated the run already. `scheduled`: an attempt is queued or in flight.
   */
  | {
      readonly kind: 'unchanged'
      readonly reason: 'stale' | 'closed' | 'early' | 'repeated' | 'scheduled'
    }
  /** A request that the state does not allow: a failed precondition, `message` is for the caller. */
  | { readonly kind: 'refused'; readonly message: string }
