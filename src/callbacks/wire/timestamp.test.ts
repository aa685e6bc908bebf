import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTimestamp, timestampJson, timestampOf } from './timestamp.ts'

test('a time is read and written to the nanosecond, from the year 1 to the end of 9999', () => {
  for (const [text, seconds, nanos] of [
    ['1970-01-01T00:00:00Z', 0n, 0],
    ['1969-12-31T23:59:59.999999999Z', -1n, 999_999_999],
    ['2026-01-31T12:00:00.120Z', 1_769_860_800n, 120_000_000],
    ['0001-01-01T00:00:00Z', -62_135_596_800n, 0],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799n, 999_999_999],
  ] as const) {
    const read = readTimestamp(text)
    assert.deepEqual([read.seconds, read.nanos], [seconds, nanos], text)
    assert.equal(timestampJson(read), text)
  }
  assert.equal(timestampJson(readTimestamp('2026-01-31T13:00:00.5+01:00')), '2026-01-31T12:00:00.500Z')
})

test('what is no such time is refused', () => {
  for (const json of ['', 'now', '2026-01-31', 5, null, {}, `2026-01-31T12:00:00.${'0'.repeat(30)}Z`]) {
    assert.throws(() => readTimestamp(json), /must be an RFC 3339 time/, JSON.stringify(json))
  }
  for (const text of ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01']) {
    assert.throws(() => readTimestamp(text), /between the years 1 and 9999/, text)
  }
  assert.throws(() => readTimestamp('2026-01-31T12:00:00.1234567890Z'), /at most 9 digits/)
})

test('a time of ours is written as the same one', () => {
  assert.equal(timestampJson(timestampOf(1_769_860_800_000_001)), '2026-01-31T12:00:00.000001Z')
  assert.equal(timestampJson(timestampOf(-1)), '1969-12-31T23:59:59.999999Z')
})
