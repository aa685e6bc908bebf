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
    '1.0005s',
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
  // As they are written in JSON, in seconds.
  for (let milliseconds = 1; milliseconds <= 20_000; milliseconds++) {
    assert.equal(parseDuration(`${milliseconds / 1_000}s`), milliseconds)
  }
  assert.deepEqual(['1.1h', '0.35d', '1.150h'].map(parseDuration), [3_960_000, 30_240_000, 4_140_000])
  assert.equal(formatDuration(90_000), '90s')
})
