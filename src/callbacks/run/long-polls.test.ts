import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitLimitMs } from './long-polls.ts'

test('a poll waits as long as it may, and answers a little before its caller gives up', () => {
  const policy = { long_poll: { timeout: 60_000, buffer: 1_000 } }
  for (const [deadline, limit] of [
    [null, 60_000],
    [100_000, 60_000],
    [61_000, 60_000],
    [60_999, 59_999],
    [1_500, 500],
    [1_000, 1_000],
    [999, 999],
    [0, 0],
  ] as const) {
    assert.equal(waitLimitMs(policy, deadline), limit, String(deadline))
  }
})

test('a caller with less time than we keep for the answer gets what it has', () => {
  assert.equal(waitLimitMs({ long_poll: { timeout: 60_000, buffer: 5_000 } }, 3_000), 3_000)
  assert.equal(waitLimitMs({ long_poll: { timeout: 60_000, buffer: 0 } }, 3_000), 3_000)
  assert.equal(waitLimitMs({ long_poll: { timeout: 50, buffer: 100 } }, 900), 50)
})
