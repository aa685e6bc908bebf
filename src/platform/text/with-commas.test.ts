import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCommas } from './with-commas.ts'

test('a comma stands before every third digit from the end, as in English', () => {
  for (const number of [0, 7, 999, 1_000, 10_000, 250_000, 1_000_000, 12_345_678]) {
    assert.equal(withCommas(number), number.toLocaleString('en'))
  }
})
