import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLastAttempt, type RetryPolicy, retryDelayMicros, retryPolicyOf, withGiven } from './retry-policy.ts'

const SECOND = 1_000_000
const server = retryPolicyOf({ initial_interval: 1_000, max_interval: 3_600_000, coefficient: 2, jitter: 0.2 })
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

function seconds(attempt: number, policy: RetryPolicy = server): number {
  return retryDelayMicros(attempt, { ...policy, jitter: 0 }, 0) / SECOND
}

test('delays double from one second up to an hour', () => {
  assert.deepEqual(
    [1, 2, 3, 12, 13, 14, 1_000_000].map((attempt) => seconds(attempt)),
    [1, 2, 4, 2048, 3600, 3600, 3600],
  )
})

test('chance takes up to a fifth off the delay and never gives the whole of it', () => {
  assert.equal(retryDelayMicros(1, server, 0), 0.8 * SECOND)
  assert.equal(retryDelayMicros(1, server, 0.5), 0.9 * SECOND)
  assert.equal(retryDelayMicros(1, server, 1 - Number.EPSILON / 2), SECOND - 1)
})

test('a delay is a whole number within its bounds for every attempt and policy', () => {
  const policies = fc.record({
    initialMicros: fc.integer({ min: 1, max: 1e12 }),
    maximumMicros: fc.oneof(fc.integer({ min: 1, max: 1e12 }), fc.constant(1e18)),
    coefficient: fc.double({ min: 0, max: 1e6, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    maximumAttempts: fc.constant(Number.POSITIVE_INFINITY),
  })
  const asked = fc.oneof(fc.constantFrom(0, Number.NaN, -1, Number.POSITIVE_INFINITY), fc.double({ min: 0, max: 1e18 }))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), policies, chance, asked, (attempt, policy, luck, retryAfter) => {
      const delay = retryDelayMicros(attempt, policy, luck, retryAfter)
      assert.ok(Number.isSafeInteger(delay) && delay >= 1 && delay <= policy.maximumMicros, `${delay}`)
    }),
  )
})

test('what the receiver asks for counts when it is longer, up to the longest delay', () => {
  const after = (asked: number) => retryDelayMicros(3, server, 0.5, asked) / SECOND
  assert.deepEqual(
    [0, 1, 30, 7200].map((asked) => after(asked * SECOND)),
    [3.6, 3.6, 30, 3600],
  )
})

test('members that a run does not give follow the server', () => {
  assert.equal(withGiven(server, null), server)
  assert.deepEqual(withGiven(server, {}), server)
  const zeros = { initialMicros: 0, maximumMicros: 0, coefficient: 0, maximumAttempts: 0 }
  assert.deepEqual(withGiven(server, zeros), server)
})

test("a run's own policy goes over that of the server, except for the jitter", () => {
  const given = { initialMicros: 10, maximumMicros: 50, coefficient: 3, maximumAttempts: 4 }
  assert.deepEqual(withGiven(server, given), { ...given, jitter: 0.2 })
})

test('an own first delay above the longest of the server is kept', () => {
  assert.equal(seconds(1, withGiven(server, { initialMicros: 7200 * SECOND })), 7200)
  assert.equal(seconds(9, withGiven(server, { initialMicros: 7200 * SECOND })), 7200)
})

test('without a maximum only the width of the counter ends the attempts', () => {
  assert.deepEqual(
    [1, 1e9, 2 ** 31 - 2, 2 ** 31 - 1].map((attempt) => isLastAttempt(attempt, server)),
    [false, false, false, true],
  )
  const three = withGiven(server, { maximumAttempts: 3 })
  assert.deepEqual(
    [2, 3, 4].map((attempt) => isLastAttempt(attempt, three)),
    [false, true, true],
  )
})
