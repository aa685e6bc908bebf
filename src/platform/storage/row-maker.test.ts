import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowMaker } from './row-maker.ts'

test('a row has the values under the names of their columns, whatever these are', () => {
  const make = rowMaker(['id', "it's", 'a "b"\n'])
  assert.deepEqual(make([[1, null, 'x']]), [{ id: 1, "it's": null, 'a "b"\n': 'x' }])
  assert.deepEqual(make([]), [])
})
