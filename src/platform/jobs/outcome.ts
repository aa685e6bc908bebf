import { MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import { storableText } from '../text/storable-text.ts'
import { retryDelayMs } from './backoff.ts'
import { LeaseLost, PermanentFailure, RetryLater, ShuttingDown, TimedOut } from './failures.ts'
import type { Again, JobKind } from './job-kind.ts'
import { encodePayload } from './payload.ts'

/** What one run of a job ended in, and so what is written about it. */
export type Outcome =
  | { kind: 'done' }
  /** `payload` is JSON text; the old one stays when it is absent. */
  | { kind: 'again'; dueAt: Micros; payload?: string }
  | { kind: 'retry'; dueAt: Micros; error: string }
  | { kind: 'dead'; error: string }
  /** Given back without counting the attempt. */
  | { kind: 'released' }

export function outcomeOfAnswer(kind: JobKind, answer: Again | undefined): Outcome {
  if (answer === undefined) return { kind: 'done' }
  if (!Number.isSafeInteger(answer.againAt)) throw new RangeError('A job runs again at a whole number of microseconds')
  const payload = answer.payload === undefined ? undefined : encodePayload(kind.name, answer.payload)
  return { kind: 'again', dueAt: answer.againAt, payload }
}

export interface Failure {
  error: unknown
  attempt: number
  now: Micros
  /** Why the handler was asked to stop, if it was. */
  aborted?: unknown
  random?: () => number
}

/** `undefined` when there is nothing to write, because the job is no longer ours. */
export function outcomeOfFailure(kind: JobKind, failure: Failure): Outcome | undefined {
  const { attempt, now, aborted, random } = failure
  // What a handler throws after an abort is mostly "aborted"; the operator wants to know why it was.
  const error = aborted instanceof TimedOut ? aborted : failure.error
  if (error instanceof LeaseLost || aborted instanceof LeaseLost) return undefined
  if (error instanceof PermanentFailure) return { kind: 'dead', error: describeError(error) }
  if (aborted instanceof ShuttingDown) return { kind: 'released' }
  if (attempt >= kind.maxAttempts) return { kind: 'dead', error: describeError(error) }
  const delayMs = error instanceof RetryLater ? error.delayMs : retryDelayMs(attempt, kind.backoff, random)
  return { kind: 'retry', dueAt: now + Math.round(delayMs * MICROS_PER_MS), error: describeError(error) }
}

/** The process that ran it is gone, or was cut off. That took long enough: the job is due at once. */
export function outcomeOfLostLease(kind: JobKind, attempt: number, now: Micros): Outcome {
  const error = 'The process that ran the job died or lost its connection to storage'
  return attempt >= kind.maxAttempts ? { kind: 'dead', error } : { kind: 'retry', dueAt: now, error }
}

const LONGEST_ERROR = 1_000

/** One line for the operator. */
export function describeError(error: unknown): string {
  return storableText(error instanceof Error ? `${error.name}: ${error.message}` : String(error), LONGEST_ERROR)
}
