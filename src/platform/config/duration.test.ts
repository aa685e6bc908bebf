import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, parseDuration } from './duration.ts'

test('every unit of a duration becomes milliseconds', () => {
  const texts = ['500ms', '10s', '5m', '1h', '30d', '1.5h', '0', '0s']
  assert.deepEqual(texts.map(parseDuration), [500, 10_000, 300_000, 3_600_000, 2_592_000_000, 5_400_000, 0, 0])
})

test('what is no duration is refused', () => {
  for (const text of [
    '',
    '10',
    's',
    '-1s',
    '1 s',
    '1S',
    '1w',
    '1h30m',
    '.5s',
    '1e3s',
    '0.1ms',
    '99999999999999d',
    '٣s',
  ]) {
    assert.equal(parseDuration(text), undefined, text)
  }
})

test('a written duration reads back as the same number', () => {
  for (const milliseconds of [0, 1, 999, 1000, 1001, 60_000, 90_000, 3_600_000, 86_400_000, 31_536_000_000]) {
    assert.equal(parseDuration(formatDuration(milliseconds)), milliseconds)
  }
  assert.equal(formatDuration(90_000), '90s')
})
