import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PreparedBody } from './prepared-body.ts'
import { isKnown } from './send-body.ts'

test('a date since when a body may have changed is in UTC in each of its forms, wherever the server stands', () => {
  process.env.TZ = 'America/New_York'
  assert.equal(new Date(0).getHours(), 19)
  const body = new PreparedBody(Buffer.from('{}'), Date.UTC(2026, 10, 15))
  for (const [since, expected] of [
    ['Sun, 15 Nov 2026 00:00:00 GMT', true],
    ['Sunday, 15-Nov-26 00:00:00 GMT', true],
    ['Sun Nov 15 00:00:00 2026', true],
    ['Sat, 14 Nov 2026 23:59:59 GMT', false],
    ['Saturday, 14-Nov-26 23:59:59 GMT', false],
    ['Sat Nov 14 23:59:59 2026', false],
    // No dates of HTTP.
    ['2027', false],
    ['tomorrow', false],
  ] as const) {
    assert.equal(isKnown({ 'if-modified-since': since }, body), expected, since)
  }
})
