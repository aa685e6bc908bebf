import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseLost, PermanentFailure, RetryLater, ShuttingDown, TimedOut } from './failures.ts'
import { jobKind } from './job-kind.ts'
import { describeError, outcomeOfAnswer, outcomeOfFailure } from './outcome.ts'

const kind = jobKind('test', { maxAttempts: 3, backoff: { initialMs: 10, jitter: 0 } })
const now = 1_000_000

test('a handler that returns nothing is done; one that names a time runs again then', () => {
  assert.deepEqual(outcomeOfAnswer(kind, undefined), { kind: 'done' })
  assert.deepEqual(outcomeOfAnswer(kind, { againAt: 5, payload: [1] }), { kind: 'again', dueAt: 5, payload: '[1]' })
})

test('a failure is tried again after the backoff of its kind', () => {
  const outcome = outcomeOfFailure(kind, { error: new Error('no route'), attempt: 2, now })
  assert.deepEqual(outcome, { kind: 'retry', dueAt: now + 20_000, error: 'Error: no route' })
})

test('the last attempt leaves a dead job', () => {
  const outcome = outcomeOfFailure(kind, { error: new Error('no route'), attempt: 3, now })
  assert.deepEqual(outcome, { kind: 'dead', error: 'Error: no route' })
})

test('a permanent failure is dead at once, even while the process shuts down', () => {
  const error = new PermanentFailure('no such user')
  const outcome = outcomeOfFailure(kind, { error, attempt: 1, now, aborted: new ShuttingDown() })
  assert.deepEqual(outcome, { kind: 'dead', error: 'PermanentFailure: no such user' })
})

test('a handler that knows better chooses the delay, but not more attempts', () => {
  const error = new RetryLater('busy', 7_000)
  assert.deepEqual(outcomeOfFailure(kind, { error, attempt: 1, now }), {
    kind: 'retry',
    dueAt: now + 7_000_000,
    error: 'RetryLater: busy',
  })
  assert.equal(outcomeOfFailure(kind, { error, attempt: 3, now })?.kind, 'dead')
})

test('times that a database could not store are no times', () => {
  assert.throws(() => outcomeOfAnswer(kind, { againAt: Number.NaN }), RangeError)
  assert.equal(new RetryLater('x', Number.NaN).delayMs, 0)
  assert.equal(new RetryLater('x', -1).delayMs, 0)
  assert.ok(Number.isSafeInteger(new RetryLater('x', Number.POSITIVE_INFINITY).delayMs))
})

test('a shutdown gives the job back instead of counting a failure', () => {
  const failure = { error: new Error('aborted'), attempt: 3, now, aborted: new ShuttingDown() }
  assert.deepEqual(outcomeOfFailure(kind, failure), { kind: 'released' })
})

test('a job that ran too long says so, whatever its handler threw', () => {
  const failure = { error: new Error('aborted'), attempt: 1, now, aborted: new TimedOut(50) }
  assert.deepEqual(outcomeOfFailure(kind, failure), {
    kind: 'retry',
    dueAt: now + 10_000,
    error: 'TimedOut: The job ran longer than 50 ms',
  })
})

test('nothing is written about a job whose lease was lost', () => {
  assert.equal(outcomeOfFailure(kind, { error: new LeaseLost('1'), attempt: 1, now }), undefined)
  assert.equal(
    outcomeOfFailure(kind, { error: new Error('x'), attempt: 1, now, aborted: new LeaseLost('1') }),
    undefined,
  )
})

test('an error is kept as text that every database can store', () => {
  assert.equal(describeError(new TypeError(`a\0b\uD800`)), 'TypeError: ab\uFFFD')
  assert.equal(describeError('x'.repeat(5_000)).length, 1_000)
  assert.equal(describeError(undefined), 'undefined')
})

test('a kind with an impossible name or no room to run is refused', () => {
  assert.throws(() => jobKind('Mail'), RangeError)
  assert.throws(() => jobKind('mail', { concurrency: 0 }), RangeError)
  assert.throws(() => jobKind('mail', { maxAttempts: Number.NaN }), RangeError)
})
