import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowNumber, rowOf, rowRange } from './row-number.ts'

const LAST_NOTE = 2 ** 31 - 1
const LAST_PART = 2 ** 20 - 1

test('a row number says what it was made from, up to the last note', () => {
  for (const noteId of [1, 2, LAST_NOTE]) {
    for (const position of [0, 1, LAST_PART]) {
      for (const kind of ['note', 'observation', 'relation'] as const) {
        const number = rowNumber(kind, noteId, position)
        assert.ok(Number.isSafeInteger(number))
        assert.deepEqual(rowOf(number), { kind, noteId, position })
      }
    }
  }
})

test('the rows of a note lie between those of its neighbours', () => {
  const { first, last } = rowRange(7)
  assert.equal(first, rowNumber('note', 7, 0))
  assert.ok(rowNumber('relation', 7, LAST_PART) <= last)
  assert.equal(last + 1, rowRange(8).first)
})
