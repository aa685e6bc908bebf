import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Backoff, retryDelayMs } from './backoff.ts'

const plain: Backoff = { initialMs: 100, maxMs: 10_000, coefficient: 2, jitter: 0 }

test('doubles the delay with each attempt until the maximum', () => {
  assert.deepEqual(
    [1, 2, 3, 7, 8, 50].map((attempt) => retryDelayMs(attempt, plain)),
    [100, 200, 400, 6_400, 10_000, 10_000],
  )
})

test('takes at most the jitter share off the delay, and never adds to it', () => {
  assert.equal(
    retryDelayMs(3, { ...plain, jitter: 0.5 }, () => 0),
    400,
  )
  assert.equal(
    retryDelayMs(3, { ...plain, jitter: 0.5 }, () => 0.5),
    300,
  )
})

test('is a finite whole number within its bounds for every attempt and policy', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 2_000_000 }),
      fc.record({
        initialMs: fc.integer({ min: 1, max: 10_000 }),
        maxMs: fc.integer({ min: 10_000, max: 100_000_000 }),
        coefficient: fc.double({ min: 1, max: 10, noNaN: true }),
        jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attempt, backoff, chance) => {
        const delay = retryDelayMs(attempt, backoff, () => chance)
        assert.ok(Number.isInteger(delay) && delay >= 0 && delay <= backoff.maxMs)
      },
    ),
  )
})
