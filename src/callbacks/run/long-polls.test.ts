import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitLimitMs } from './long-polls.ts'

test('a poll waits as long as it may, and answers a little before its caller gives up', () => {
  const policy = { long_poll: { timeout: 60_000, buffer: 1_000 } }
  for (const [deadlineMs, limit] of [
    [null, 60_000],
    [100_000, 60_000],
    [61_000, 60_000],
    [60_999, 59_999],
    [1_500, 500],
    [1_000, 1_000],
    [999, 999],
    [0, 0],
  ] as const) {
    assert.equal(waitLimitMs(policy, { deadlineMs }), limit, String(deadlineMs))
  }
})

test('a caller with less time than we keep for the answer gets what it has', () => {
  assert.equal(waitLimitMs({ long_poll: { timeout: 60_000, buffer: 5_000 } }, { deadlineMs: 3_000 }), 3_000)
  assert.equal(waitLimitMs({ long_poll: { timeout: 60_000, buffer: 0 } }, { deadlineMs: 3_000 }), 3_000)
  assert.equal(waitLimitMs({ long_poll: { timeout: 50, buffer: 100 } }, { deadlineMs: 900 }), 50)
})

test('a caller that is cut off at its deadline is answered before it, however little time it has', () => {
  const policy = { long_poll: { timeout: 60_000, buffer: 1_000 } }
  for (const [deadlineMs, limit] of [
    [100_000, 60_000],
    [1_500, 500],
    [1_000, 750],
    [500, 375],
    [100, 75],
    [0, 0],
  ] as const) {
    assert.equal(waitLimitMs(policy, { deadlineMs, isCutOff: true }), limit, String(deadlineMs))
  }
  assert.equal(waitLimitMs({ long_poll: { timeout: 60_000, buffer: 0 } }, { deadlineMs: 3_000, isCutOff: true }), 2_750)
})

test('a caller whose library rounds its second up waits for it, and is not answered at once', () => {
  const policy = { long_poll: { timeout: 60_000, buffer: 1_000 } }
  for (const [deadlineMs, limit] of [
    [1_001, 751],
    [1_010, 760],
    [1_050, 50],
  ] as const) {
    assert.equal(waitLimitMs(policy, { deadlineMs, isCutOff: true }), limit, String(deadlineMs))
  }
})
