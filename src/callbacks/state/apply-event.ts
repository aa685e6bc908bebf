import type { Micros } from '../../platform/clock/clock.ts'
import { isLastAttempt, retryDelayMicros, withGiven } from './retry-policy.ts'
import type { Changed, RunEvent, Step, StepContext } from './run-event.ts'
import { isDelayed, isOverdue, type RunRecord } from './run-record.ts'
import { isTerminal, type RunState } from './run-state.ts'
import { attemptFailure, terminatedFailure, timeoutFailure } from './stored-failure.ts'

type EventOf<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>

/**
 * | From                    | Event                          | To          | Step                          |
 * | ----------------------- | ------------------------------ | ----------- | ----------------------------- |
 * | (new)                   | start accepted                 | SCHEDULED   | T1, `startRun`                |
 * | SCHEDULED               | attempt_succeeded, same tag    | SUCCEEDED   | T2, `succeed`                 |
 * | SCHEDULED               | attempt_failed, retryable      | BACKING_OFF | T3, `back_off`                |
 * | SCHEDULED               | the same, it was the last one  | FAILED      | `use_up_attempts`             |
 * | SCHEDULED               | attempt_failed, not retryable  | FAILED      | T4, `fail`                    |
 * | BACKING_OFF             | backoff_due, same tag          | SCHEDULED   | T5, `schedule`                |
 * | SCHEDULED, BACKING_OFF  | terminate                      | TERMINATED  | T6, `terminate`               |
 * | SCHEDULED, BACKING_OFF  | timeout_due                    | TIMED_OUT   | T7, `time_out`                |
 * | BACKING_OFF             | retry_now                      | SCHEDULED   | `retry_now`                   |
 * | SCHEDULED, put off      | retry_now                      | SCHEDULED   | `retry_now`                   |
 * | SCHEDULED               | retry_now                      | the same    | nothing stored, a trial       |
 *
 * Everything else changes nothing. The caller stores the answer only if `transitionCount` is still the one it read.
 */
export function applyEvent(record: RunRecord, event: RunEvent, context: StepContext): Step {
  switch (event.kind) {
    case 'attempt_succeeded':
      return stale(record, 'SCHEDULED', event.tag) ?? succeed(record, context.now)
    case 'attempt_failed':
      return stale(record, 'SCHEDULED', event.tag) ?? failAttempt(record, event, context)
    case 'backoff_due':
      return stale(record, 'BACKING_OFF', event.tag) ?? endBackoff(record, context.now)
    case 'timeout_due':
      return timeOut(record, context.now)
    case 'terminate':
      return isTerminal(record.state) ? terminateAgain(record, event) : terminate(record, event, context.now)
    case 'retry_now':
      return retryNow(record, context.now)
  }
}

function stale(record: RunRecord, state: RunState, tag: number): Step | null {
  if (record.state === state && record.attempt === tag) return null
  return { kind: 'unchanged', reason: isTerminal(record.state) ? 'closed' : 'stale' }
}

function succeed(record: RunRecord, now: Micros): Changed {
  return changed('succeed', closed(completed(record, now), 'SUCCEEDED', now))
}

function failAttempt(record: RunRecord, event: EventOf<'attempt_failed'>, context: StepContext): Changed {
  const { now, retry, chance } = context
  const after = completed(record, now)
  const failures = { lastAttempt: attemptFailure(event.message, !event.isRetryable) }
  if (!event.isRetryable) return changed('fail', closed(after, 'FAILED', now), failures)
  const policy = withGiven(retry, record.retryPolicy)
  if (isLastAttempt(after.attempt, policy)) return changed('use_up_attempts', closed(after, 'FAILED', now), failures)
  // A time beyond the deadline is stored as it is: the deadline simply comes first. From now on, not from the times of the run, which lie
  // ahead where the clock was set back since it began.
  const at = now + retryDelayMicros(after.attempt, policy, chance, event.retryAfterMicros)
  return changed('back_off', { ...after, state: 'BACKING_OFF', nextAttemptAt: at }, failures)
}

function endBackoff(record: RunRecord, now: Micros): Step {
  // After downtime both may be due: the timeout goes first.
  if (isOverdue(record, now)) return timeOut(record, now)
  if (record.nextAttemptAt !== null && record.nextAttemptAt > now) return { kind: 'unchanged', reason: 'early' }
  return changed('schedule', scheduled(record))
}

function timeOut(record: RunRecord, now: Micros): Step {
  if (isTerminal(record.state)) return { kind: 'unchanged', reason: 'closed' }
  if (record.deadlineAt === null) return { kind: 'unchanged', reason: 'stale' }
  if (!isOverdue(record, now)) return { kind: 'unchanged', reason: 'early' }
  return changed('time_out', closed(record, 'TIMED_OUT', now), { terminal: timeoutFailure() })
}

function terminate(record: RunRecord, event: EventOf<'terminate'>, now: Micros): Changed {
  const after = { ...closed(record, 'TERMINATED', now), terminateRequestId: event.requestId }
  return changed('terminate', after, { terminal: terminatedFailure(event.reason, event.identity) })
}

function terminateAgain(record: RunRecord, event: EventOf<'terminate'>): Step {
  if (record.state !== 'TERMINATED') return refusedAsClosed(record)
  if (record.terminateRequestId === event.requestId) return { kind: 'unchanged', reason: 'repeated' }
  return {
    kind: 'refused',
    message: `The callback execution was terminated already, by request id ${record.terminateRequestId ?? ''}.`,
  }
}

function retryNow(record: RunRecord, now: Micros): Step {
  if (isTerminal(record.state)) return refusedAsClosed(record)
  if (record.state === 'BACKING_OFF' || isDelayed(record, now)) return changed('retry_now', scheduled(record))
  return { kind: 'unchanged', reason: 'scheduled' }
}

function refusedAsClosed(record: RunRecord): Step {
  return { kind: 'refused', message: `The callback execution is closed, its state is ${record.state}.` }
}

function changed(transition: Changed['transition'], after: RunRecord, failures: Changed['failures'] = {}): Changed {
  const record = { ...after, transitionCount: after.transitionCount + 1 }
  return { kind: 'changed', transition, record, failures }
}

function completed(record: RunRecord, now: Micros): RunRecord {
  return { ...record, attempt: record.attempt + 1, lastAttemptCompletedAt: latest(record, now), nextAttemptAt: null }
}

function scheduled(record: RunRecord): RunRecord {
  return { ...record, state: 'SCHEDULED', nextAttemptAt: null }
}

/** NOTE: a run always closes later than it was created, also within one tick of the clock. */
function closed(record: RunRecord, state: RunState, now: Micros): RunRecord {
  return { ...record, state, nextAttemptAt: null, closedAt: Math.max(latest(record, now), record.createdAt + 1) }
}

/** Clocks of several processes differ; the times of one run never go back. */
function latest(record: RunRecord, now: Micros): Micros {
  return Math.max(now, record.createdAt, record.lastAttemptCompletedAt ?? 0)
}
