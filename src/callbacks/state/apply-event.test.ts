import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEvent } from './apply-event.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Changed, RunEvent, Step } from './run-event.ts'
import { type RunRecord, startRun } from './run-record.ts'
import { RUN_STATES, type RunState } from './run-state.ts'

const T0 = 1_700_000_000_000_000
const SECOND = 1_000_000
const NOW = T0 + 100 * SECOND
const retry: RetryPolicy = {
  initialMicros: SECOND,
  maximumMicros: 3600 * SECOND,
  coefficient: 2,
  jitter: 0.2,
  maximumAttempts: Number.POSITIVE_INFINITY,
}
const context = { now: NOW, retry, chance: 0.5 }

const fresh = startRun({ timeoutMicros: 50 * SECOND, startDelayMicros: 0, retryPolicy: null }, T0)
const tried = { ...fresh, attempt: 3, transitionCount: 7, lastAttemptCompletedAt: T0 + 9 * SECOND }
const done = { ...tried, closedAt: T0 + 20 * SECOND }
const RECORDS: Record<RunState, RunRecord> = {
  SCHEDULED: tried,
  BACKING_OFF: { ...tried, state: 'BACKING_OFF', nextAttemptAt: NOW, deadlineAt: null },
  SUCCEEDED: { ...done, state: 'SUCCEEDED' },
  FAILED: { ...done, state: 'FAILED' },
  TIMED_OUT: { ...done, state: 'TIMED_OUT' },
  TERMINATED: { ...done, state: 'TERMINATED', terminateRequestId: 'first' },
}

const EVENTS = {
  succeeded: { kind: 'attempt_succeeded', tag: 3 },
  succeededEarlier: { kind: 'attempt_succeeded', tag: 2 },
  succeededLater: { kind: 'attempt_succeeded', tag: 4 },
  failed: { kind: 'attempt_failed', tag: 3, isRetryable: true, message: 'broken' },
  failedEarlier: { kind: 'attempt_failed', tag: 2, isRetryable: true, message: 'broken' },
  refused: { kind: 'attempt_failed', tag: 3, isRetryable: false, message: 'gone' },
  refusedEarlier: { kind: 'attempt_failed', tag: 2, isRetryable: false, message: 'gone' },
  backoffDue: { kind: 'backoff_due', tag: 3 },
  backoffDueEarlier: { kind: 'backoff_due', tag: 2 },
  timeoutDue: { kind: 'timeout_due' },
  terminate: { kind: 'terminate', requestId: 'first', identity: 'ada', reason: 'no use' },
  terminateOther: { kind: 'terminate', requestId: 'second', identity: 'ada', reason: '' },
  retryNow: { kind: 'retry_now' },
} satisfies Record<string, RunEvent>

/** What the contract says of each state and event: the state it leads to, or why nothing happens. */
const CLOSED = {
  succeeded: 'closed',
  succeededEarlier: 'closed',
  succeededLater: 'closed',
  failed: 'closed',
  failedEarlier: 'closed',
  refused: 'closed',
  refusedEarlier: 'closed',
  backoffDue: 'closed',
  backoffDueEarlier: 'closed',
  timeoutDue: 'closed',
  terminate: 'refused',
  terminateOther: 'refused',
  retryNow: 'refused',
} satisfies Record<keyof typeof EVENTS, string>

const EXPECTED: Record<RunState, Record<keyof typeof EVENTS, string>> = {
  SCHEDULED: {
    succeeded: 'SUCCEEDED',
    succeededEarlier: 'stale',
    succeededLater: 'stale',
    failed: 'BACKING_OFF',
    failedEarlier: 'stale',
    refused: 'FAILED',
    refusedEarlier: 'stale',
    backoffDue: 'stale',
    backoffDueEarlier: 'stale',
    timeoutDue: 'TIMED_OUT',
    terminate: 'TERMINATED',
    terminateOther: 'TERMINATED',
    retryNow: 'scheduled',
  },
  BACKING_OFF: {
    succeeded: 'stale',
    succeededEarlier: 'stale',
    succeededLater: 'stale',
    failed: 'stale',
    failedEarlier: 'stale',
    refused: 'stale',
    refusedEarlier: 'stale',
    backoffDue: 'SCHEDULED',
    backoffDueEarlier: 'stale',
    timeoutDue: 'stale',
    terminate: 'TERMINATED',
    terminateOther: 'TERMINATED',
    retryNow: 'SCHEDULED',
  },
  SUCCEEDED: CLOSED,
  FAILED: CLOSED,
  TIMED_OUT: CLOSED,
  TERMINATED: { ...CLOSED, terminate: 'repeated' },
}

function summary(answer: Step): string {
  if (answer.kind === 'changed') return answer.record.state
  return answer.kind === 'unchanged' ? answer.reason : 'refused'
}

function changedBy(record: RunRecord, event: RunEvent, at = context): Changed {
  const answer = applyEvent(record, event, at)
  assert.ok(answer.kind === 'changed', summary(answer))
  return answer
}

for (const state of RUN_STATES) {
  test(`every event in ${state} leads where the table says`, () => {
    const found = Object.entries(EVENTS).map(([name, event]) => [
      name,
      summary(applyEvent(RECORDS[state], event, context)),
    ])
    assert.deepEqual(Object.fromEntries(found), EXPECTED[state])
  })
}

test('a success counts the attempt, closes the run and writes no failure', () => {
  const { record, failures, transition } = changedBy(tried, EVENTS.succeeded)
  assert.deepEqual(record, {
    ...tried,
    state: 'SUCCEEDED',
    attempt: 4,
    transitionCount: 8,
    lastAttemptCompletedAt: NOW,
    closedAt: NOW,
  })
  assert.deepEqual([transition, failures], ['succeed', {}])
})

test('a retryable failure counts the attempt and says when the next one is due', () => {
  const { record, failures } = changedBy(tried, EVENTS.failed)
  // The fourth delay is 8 s, a tenth of it taken away by a chance of one half.
  const at = NOW + 7.2 * SECOND
  assert.deepEqual(record, {
    ...tried,
    state: 'BACKING_OFF',
    attempt: 4,
    transitionCount: 8,
    lastAttemptCompletedAt: NOW,
    nextAttemptAt: at,
  })
  assert.deepEqual(failures, { lastAttempt: { message: 'broken', applicationFailureInfo: { nonRetryable: false } } })
})

test('a failure that cannot pass closes the run as failed', () => {
  const { record, failures } = changedBy(tried, EVENTS.refused)
  assert.deepEqual([record.state, record.attempt, record.closedAt, record.nextAttemptAt], ['FAILED', 4, NOW, null])
  assert.deepEqual(failures, { lastAttempt: { message: 'gone', applicationFailureInfo: { nonRetryable: true } } })
})

test('the last attempt of the own policy closes the run with its failure, which stays retryable by nature', () => {
  const limited = { ...tried, retryPolicy: { maximumAttempts: 4 } }
  const { record, failures, transition } = changedBy(limited, EVENTS.failed)
  assert.deepEqual([transition, record.state, record.attempt, record.closedAt], ['use_up_attempts', 'FAILED', 4, NOW])
  assert.deepEqual(failures, { lastAttempt: { message: 'broken', applicationFailureInfo: { nonRetryable: false } } })
  assert.equal(changedBy({ ...limited, attempt: 2 }, EVENTS.failedEarlier).record.state, 'BACKING_OFF')
})

test('a run that could not count its attempts any more has used them up', () => {
  const event = { ...EVENTS.failed, tag: 2_147_483_646 }
  assert.equal(changedBy({ ...tried, attempt: event.tag }, event).transition, 'use_up_attempts')
})

test('a receiver that asks for a longer delay gets it', () => {
  const { record } = changedBy(tried, { ...EVENTS.failed, retryAfterMicros: 60 * SECOND })
  assert.equal(record.nextAttemptAt, NOW + 60 * SECOND)
})

test('a retry beyond the deadline is stored as computed', () => {
  const { record } = changedBy({ ...tried, deadlineAt: NOW + 1 }, EVENTS.failed)
  assert.ok(Number(record.nextAttemptAt) > Number(record.deadlineAt))
})

test('the end of a backoff touches neither the number of the attempt nor times', () => {
  const { record, failures } = changedBy(RECORDS.BACKING_OFF, EVENTS.backoffDue)
  assert.deepEqual(record, { ...RECORDS.BACKING_OFF, state: 'SCHEDULED', nextAttemptAt: null, transitionCount: 8 })
  assert.deepEqual(failures, {})
})

test('a backoff timer that comes too soon changes nothing', () => {
  const answer = applyEvent(RECORDS.BACKING_OFF, EVENTS.backoffDue, { ...context, now: NOW - 1 })
  assert.deepEqual(answer, { kind: 'unchanged', reason: 'early' })
})

test('a timeout that is overdue goes before an overdue backoff', () => {
  const both = { ...RECORDS.BACKING_OFF, deadlineAt: NOW }
  assert.equal(changedBy(both, EVENTS.backoffDue).transition, 'time_out')
})

test('a timeout keeps attempt and last failure, in both running states', () => {
  for (const before of [tried, { ...RECORDS.BACKING_OFF, deadlineAt: NOW }]) {
    const { record, failures } = changedBy(before, EVENTS.timeoutDue)
    assert.deepEqual(record, { ...before, state: 'TIMED_OUT', nextAttemptAt: null, closedAt: NOW, transitionCount: 8 })
    assert.deepEqual(failures, {
      terminal: {
        message: 'callback execution timed out',
        timeoutFailureInfo: { timeoutType: 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE' },
      },
    })
  }
})

test('a timeout timer that comes too soon changes nothing', () => {
  const answer = applyEvent({ ...tried, deadlineAt: NOW + 1 }, EVENTS.timeoutDue, context)
  assert.deepEqual(answer, { kind: 'unchanged', reason: 'early' })
})

test('a termination keeps attempt and last failure, and remembers who asked', () => {
  const { record, failures } = changedBy(RECORDS.BACKING_OFF, EVENTS.terminate)
  assert.deepEqual(record, {
    ...RECORDS.BACKING_OFF,
    state: 'TERMINATED',
    nextAttemptAt: null,
    closedAt: NOW,
    terminateRequestId: 'first',
    transitionCount: 8,
  })
  assert.deepEqual(failures, { terminal: { message: 'no use', terminatedFailureInfo: { identity: 'ada' } } })
})

test('a second termination is told the request id of the first, one of a closed run its state', () => {
  const other = applyEvent(RECORDS.TERMINATED, EVENTS.terminateOther, context)
  assert.ok(other.kind === 'refused' && other.message.includes('first'))
  const late = applyEvent(RECORDS.TIMED_OUT, EVENTS.terminate, context)
  assert.ok(late.kind === 'refused' && late.message.includes('TIMED_OUT'))
})

test('the result of a request that was in flight when the run closed changes nothing', () => {
  const { record } = changedBy(tried, EVENTS.terminate)
  for (const event of [EVENTS.succeeded, EVENTS.failed, EVENTS.refused]) {
    assert.deepEqual(applyEvent(record, event, context), { kind: 'unchanged', reason: 'closed' })
  }
})

test('retry now ends a backoff at once, and its timer is stale afterwards', () => {
  const waiting = { ...RECORDS.BACKING_OFF, nextAttemptAt: NOW + 3600 * SECOND }
  const { record, transition } = changedBy(waiting, EVENTS.retryNow)
  assert.deepEqual(record, { ...waiting, state: 'SCHEDULED', nextAttemptAt: null, transitionCount: 8 })
  assert.equal(transition, 'retry_now')
  assert.equal(summary(applyEvent(record, EVENTS.backoffDue, { ...context, now: NOW + 3600 * SECOND })), 'stale')
})

test('retry now starts a run that was put off, and is a mere trial once its time has come', () => {
  const delayed = startRun({ timeoutMicros: null, startDelayMicros: 60 * SECOND, retryPolicy: null }, T0)
  const { record } = changedBy(delayed, EVENTS.retryNow, { ...context, now: T0 + 1 })
  assert.deepEqual(record, { ...delayed, nextAttemptAt: null, transitionCount: 2 })
  const later = applyEvent(delayed, EVENTS.retryNow, context)
  assert.deepEqual(later, { kind: 'unchanged', reason: 'scheduled' })
})

test('a run closes later than it was created, also when the clock stands still or goes back', () => {
  const running = { ...fresh, deadlineAt: T0 - 10 }
  const closing = [
    { ...EVENTS.succeeded, tag: 0 },
    { ...EVENTS.refused, tag: 0 },
    EVENTS.terminate,
    EVENTS.timeoutDue,
  ] satisfies RunEvent[]
  for (const event of closing) {
    for (const now of [T0, T0 - 5]) {
      const { record } = changedBy(running, event, { ...context, now })
      assert.equal(record.closedAt, T0 + 1, event.kind)
    }
  }
})

test('the times of a run never go back, whatever the clock of another process says', () => {
  const behind = { ...context, now: T0 + SECOND }
  assert.equal(changedBy(tried, EVENTS.succeeded, behind).record.closedAt, tried.lastAttemptCompletedAt)
  const { record } = changedBy(tried, EVENTS.failed, behind)
  assert.equal(record.lastAttemptCompletedAt, tried.lastAttemptCompletedAt)
})

test('the next attempt is put off from now on, also of a run that began before the clock was set back', () => {
  const now = T0 - 3600 * SECOND
  const { record } = changedBy(tried, EVENTS.failed, { ...context, now })
  assert.equal(record.nextAttemptAt, now + 7.2 * SECOND)
})
