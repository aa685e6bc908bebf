import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitAttempt, attemptTimeoutMicros, isOverdue, type RunRecord, shownState, startRun } from './run-record.ts'
import { isTerminal, RUN_STATES, STATE_NUMBERS, STATUS_NUMBERS, statusOf } from './run-state.ts'

const T0 = 1_700_000_000_000_000
const SECOND = 1_000_000

const plain = { timeoutMicros: null, startDelayMicros: 0, retryPolicy: null }
const fresh = startRun(plain, T0)
const delayed = startRun({ ...plain, startDelayMicros: 5 * SECOND }, T0)
const waiting: RunRecord = { ...fresh, state: 'BACKING_OFF', attempt: 1, nextAttemptAt: T0 + SECOND }

test('a new run is scheduled, counts one transition and no attempt, and is attempted at once', () => {
  assert.deepEqual(startRun(plain, T0), {
    state: 'SCHEDULED',
    attempt: 0,
    transitionCount: 1,
    createdAt: T0,
    deadlineAt: null,
    nextAttemptAt: null,
    lastAttemptCompletedAt: null,
    closedAt: null,
    terminateRequestId: null,
    retryPolicy: null,
  })
  assert.equal(admitAttempt(fresh, 0, T0), 'go')
})

test('a time limit counts from the creation, also when the start is put off', () => {
  const record = startRun({ ...plain, timeoutMicros: 9 * SECOND, startDelayMicros: 5 * SECOND }, T0)
  assert.deepEqual([record.deadlineAt, record.nextAttemptAt], [T0 + 9 * SECOND, T0 + 5 * SECOND])
})

test('only the attempt that a scheduled run waits for is made', () => {
  for (const state of RUN_STATES) {
    const expected = state === 'SCHEDULED' ? 'go' : 'stale'
    assert.equal(admitAttempt({ ...fresh, state }, 0, T0), expected, state)
    assert.equal(admitAttempt({ ...fresh, state, attempt: 2 }, 1, T0), 'stale', state)
    assert.equal(admitAttempt({ ...fresh, state, attempt: 2 }, 3, T0), 'stale', state)
  }
})

test('a start that is put off is not made before its time', () => {
  assert.equal(admitAttempt(delayed, 0, T0 + 5 * SECOND - 1), 'early')
  assert.equal(admitAttempt(delayed, 0, T0 + 5 * SECOND), 'go')
})

test('an overdue timeout goes before an attempt', () => {
  const limited = { ...fresh, deadlineAt: T0 + SECOND }
  assert.equal(admitAttempt(limited, 0, T0 + SECOND - 1), 'go')
  assert.equal(admitAttempt(limited, 0, T0 + SECOND), 'overdue')
  assert.equal(isOverdue({ ...limited, state: 'SUCCEEDED' }, T0 + SECOND), false)
})

test('an attempt ends with the time limit of its run', () => {
  const limited = { ...fresh, deadlineAt: T0 + 3 * SECOND }
  assert.equal(attemptTimeoutMicros(fresh, 10 * SECOND, T0), 10 * SECOND)
  assert.deepEqual(
    [-9, 0, 2, 3, 4].map((after) => attemptTimeoutMicros(limited, 10 * SECOND, T0 + after * SECOND) / SECOND),
    [10, 3, 1, 0, 0],
  )
})

test('a scheduled run is shown as blocked while its destination takes no attempts', () => {
  const blocked = { status: 'RUNNING', state: 'BLOCKED', blockedReason: 'why', nextAttemptAt: null }
  assert.deepEqual(shownState(fresh, 'why', T0), blocked)
  assert.deepEqual(shownState(fresh, null, T0), { ...blocked, state: 'SCHEDULED', blockedReason: '' })
})

test('a run that waits for its own time is never shown as blocked', () => {
  const shown = { status: 'RUNNING', blockedReason: '' }
  assert.deepEqual(shownState(waiting, 'why', T0), { ...shown, state: 'BACKING_OFF', nextAttemptAt: T0 + SECOND })
  assert.deepEqual(shownState(delayed, 'why', T0), { ...shown, state: 'SCHEDULED', nextAttemptAt: T0 + 5 * SECOND })
})

test('the time of a start that was put off is not shown any more once it has come', () => {
  const shown = shownState(delayed, 'why', T0 + 5 * SECOND)
  assert.deepEqual([shown.state, shown.nextAttemptAt], ['BLOCKED', null])
})

test('every state has its status and its number', () => {
  const table = RUN_STATES.map((state) => [state, STATE_NUMBERS[state], statusOf(state), isTerminal(state)])
  assert.deepEqual(table, [
    ['SCHEDULED', 2, 'RUNNING', false],
    ['BACKING_OFF', 3, 'RUNNING', false],
    ['SUCCEEDED', 5, 'SUCCEEDED', true],
    ['FAILED', 4, 'FAILED', true],
    ['TIMED_OUT', 8, 'FAILED', true],
    ['TERMINATED', 7, 'TERMINATED', true],
  ])
  assert.equal(STATE_NUMBERS.BLOCKED, 6)
  assert.deepEqual(STATUS_NUMBERS, { RUNNING: 1, SUCCEEDED: 2, FAILED: 3, TERMINATED: 4 })
})
