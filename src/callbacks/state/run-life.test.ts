import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyEvent } from './apply-event.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Changed, RunEvent } from './run-event.ts'
import { type GivenRetryPolicy, isDelayed, type RunRecord, shownState, startRun } from './run-record.ts'
import { isTerminal, statusOf } from './run-state.ts'
import { runOutcome, type StoredFailure } from './stored-failure.ts'

const T0 = 1_700_000_000_000_000
const SECOND = 1_000_000
const server: RetryPolicy = {
  initialMicros: SECOND,
  maximumMicros: 60 * SECOND,
  coefficient: 2,
  jitter: 0.2,
  maximumAttempts: Number.POSITIVE_INFINITY,
}

// Most tags are the current one, else hardly any random life would get beyond its first attempt.
const aside = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
)
const happening = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('attempt_succeeded' as const), aside }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('attempt_failed' as const),
      aside,
      isRetryable: fc.integer({ min: 0, max: 7 }).map((n) => n > 0),
      message: fc.string({ unit: 'binary' }),
      retryAfterMicros: fc.option(fc.double({ min: 0, max: 1e16, noNaN: true }), { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('backoff_due' as const), aside }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('timeout_due' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('terminate' as const),
      requestId: fc.constantFrom('a', 'b'),
      identity: fc.string(),
      reason: fc.string(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('retry_now' as const) }) },
)
const moment = fc.record({
  happening,
  // Backwards, too: processes do not agree on the time.
  passes: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 0, max: 90 * SECOND })),
  chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
})
const retryPolicy: fc.Arbitrary<GivenRetryPolicy | null> = fc.option(
  fc.record(
    {
      initialMicros: fc.integer({ min: 0, max: 1e9 }),
      maximumMicros: fc.integer({ min: 0, max: 1e9 }),
      coefficient: fc.double({ min: 1, max: 100, noNaN: true }),
      maximumAttempts: fc.integer({ min: 0, max: 6 }),
    },
    { requiredKeys: [] },
  ),
)
const life = fc.record({
  timeoutMicros: fc.option(fc.integer({ min: 1, max: 600 * SECOND })),
  startDelayMicros: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 * SECOND })),
  retryPolicy,
  moments: fc.array(moment, { maxLength: 40 }),
})

interface Kept {
  lastAttempt: StoredFailure | null
  terminal: StoredFailure | null
}

function assertSound(record: RunRecord, kept: Kept, now: number): void {
  const closed = isTerminal(record.state)
  assert.equal(record.closedAt !== null, closed)
  if (record.closedAt !== null) assert.ok(record.closedAt > record.createdAt)
  assert.equal(kept.terminal !== null, record.state === 'TERMINATED' || record.state === 'TIMED_OUT')
  assert.equal(record.terminateRequestId !== null, record.state === 'TERMINATED')
  assert.equal(record.lastAttemptCompletedAt !== null, record.attempt > 0)
  if (record.state === 'BACKING_OFF') assert.ok(record.nextAttemptAt !== null && record.attempt > 0)
  else if (record.nextAttemptAt !== null) assert.ok(record.state === 'SCHEDULED' && record.attempt === 0)
  for (const value of Object.values(record)) if (typeof value === 'number') assert.ok(Number.isSafeInteger(value))

  const outcome = runOutcome(record.state, kept)
  assert.equal(outcome !== null, closed)
  if (outcome !== null) assert.equal('success' in outcome, record.state === 'SUCCEEDED')

  const shown = shownState(record, 'why', now)
  assert.equal(shown.status, statusOf(record.state))
  assert.equal(shown.state === 'BLOCKED', record.state === 'SCHEDULED' && !isDelayed(record, now))
  assert.equal(shown.nextAttemptAt !== null, record.state === 'BACKING_OFF' || isDelayed(record, now))
}

function assertStep(before: RunRecord, event: RunEvent, { record, transition, failures }: Changed): void {
  const counts = event.kind === 'attempt_succeeded' || event.kind === 'attempt_failed'
  assert.ok(!isTerminal(before.state), 'nothing leaves a terminal state')
  assert.equal(record.transitionCount, before.transitionCount + 1)
  assert.equal(record.attempt, before.attempt + (counts ? 1 : 0))
  assert.equal(failures.lastAttempt !== undefined, event.kind === 'attempt_failed')
  assert.equal(failures.terminal !== undefined, transition === 'terminate' || transition === 'time_out')
  assert.ok((record.lastAttemptCompletedAt ?? 0) >= (before.lastAttemptCompletedAt ?? 0))
  if (!counts) assert.equal(record.lastAttemptCompletedAt, before.lastAttemptCompletedAt)
  const { createdAt, deadlineAt, retryPolicy } = before
  assert.deepEqual([record.createdAt, record.deadlineAt, record.retryPolicy], [createdAt, deadlineAt, retryPolicy])
  // Whatever runs has a time that carries it on, or is due.
  if (!isTerminal(record.state)) assert.equal(record.nextAttemptAt !== null, record.state === 'BACKING_OFF')
}

test('whatever happens, in any order, a run stays sound', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(life, ({ moments, ...run }) => {
      let record = startRun(run, T0)
      let now = T0
      const kept: Kept = { lastAttempt: null, terminal: null }
      const most = run.retryPolicy?.maximumAttempts || Number.POSITIVE_INFINITY
      assertSound(record, kept, now)
      for (const { happening, passes, chance } of moments) {
        now += passes
        const event: RunEvent =
          'aside' in happening ? { ...happening, tag: record.attempt + happening.aside } : happening
        const frozen = Object.freeze(record)
        const answer = applyEvent(frozen, event, { now, retry: server, chance })
        if ('tag' in event && event.tag !== record.attempt) assert.equal(answer.kind, 'unchanged')
        if (answer.kind !== 'changed') continue
        assertStep(record, event, answer)
        record = answer.record
        kept.lastAttempt = answer.failures.lastAttempt ?? kept.lastAttempt
        kept.terminal = answer.failures.terminal ?? kept.terminal
        assertSound(record, kept, now)
        assert.ok(record.attempt <= most)
        if (record.attempt === most) assert.ok(isTerminal(record.state), 'attempts are used up')
        seen.add(answer.transition)
      }
    }),
    { numRuns: 500 },
  )
  const all = ['back_off', 'fail', 'retry_now', 'schedule', 'succeed', 'terminate', 'time_out', 'use_up_attempts']
  assert.deepEqual([...seen].sort(), all)
})

test('attempts left to themselves follow one another until the policy ends them', () => {
  let record = startRun({ timeoutMicros: null, startDelayMicros: 0, retryPolicy: { maximumAttempts: 5 } }, T0)
  let now = T0
  const delays: number[] = []
  while (!isTerminal(record.state)) {
    const event: RunEvent =
      record.state === 'SCHEDULED'
        ? { kind: 'attempt_failed', tag: record.attempt, isRetryable: true, message: 'broken' }
        : { kind: 'backoff_due', tag: record.attempt }
    const answer = applyEvent(record, event, { now, retry: { ...server, jitter: 0 }, chance: 0 })
    assert.ok(answer.kind === 'changed')
    record = answer.record
    if (record.nextAttemptAt !== null) {
      delays.push((record.nextAttemptAt - now) / SECOND)
      now = record.nextAttemptAt
    }
  }
  assert.deepEqual(delays, [1, 2, 4, 8])
  assert.deepEqual([record.state, record.attempt, record.transitionCount], ['FAILED', 5, 10])
})
