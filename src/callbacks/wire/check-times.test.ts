import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryPolicySchema } from '../../gen/commonplace/retry/v1/retry_policy_pb.js'
import { checkRetryPolicy } from './check-times.ts'
import { readMessage } from './json.ts'

function check(policy: Record<string, unknown>) {
  return checkRetryPolicy(readMessage(RetryPolicySchema, policy))
}

test('a retry policy may be as short and as flat as delays can be', () => {
  const least = { initialInterval: '0.001s', maximumInterval: '0.001s', backoffCoefficient: 1 }
  assert.deepEqual(check(least), { initialMicros: 1_000, maximumMicros: 1_000, coefficient: 1, maximumAttempts: 0 })
  assert.equal(check({ initialInterval: '0s', maximumInterval: '0s' }), null)
})

test('delays of less than a millisecond, a longest one below the first and a shrinking one are refused', () => {
  for (const interval of ['0.000001s', '0.000999s']) {
    assert.throws(() => check({ initialInterval: interval }), /initial_interval must be at least 0.001s/)
    assert.throws(() => check({ maximumInterval: interval }), /maximum_interval must be at least 0.001s/)
  }
  assert.throws(() => check({ initialInterval: '2s', maximumInterval: '1.999999s' }), /not shorter than/)
  for (const backoffCoefficient of [0.999, -1, 'Infinity', 'NaN']) {
    assert.throws(() => check({ backoffCoefficient }), /backoff_coefficient must be a number of at least 1/)
  }
})
