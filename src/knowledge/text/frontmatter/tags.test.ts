import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNames, readTags } from './tags.ts'

test('tags come as a list, between commas, or as a JSON array in a text', () => {
  assert.deepEqual(readTags(['a', 'b']), ['a', 'b'])
  assert.deepEqual(readTags('a, b ,c'), ['a', 'b', 'c'])
  assert.deepEqual(readTags('["a", "b,c", null, 3]'), ['a', 'b', 'c', '3'])
  assert.deepEqual(readTags('one'), ['one'])
  assert.deepEqual(readTags(' ["a", {"x": 1}, null, ["b"]]\n'), ['a'])
})

test('elements are split, trimmed and lose their hash', () => {
  assert.deepEqual(readTags(['#a, ##b', ' c ', '# d', '']), ['a', 'b', 'c', 'd'])
  assert.deepEqual(readTags(['a', 'A', 'a', '#a']), ['a', 'A'])
})

test('what is no text is written out or dropped', () => {
  assert.deepEqual(readTags([2024, true, null, 1.5, { a: 1 }, ['x', 'y']]), ['2024', 'true', '1.5', 'x', 'y'])
  assert.deepEqual(readTags(2024), ['2024'])
  assert.deepEqual(readTags({ a: 1 }), [])
  assert.deepEqual(readTags(null), [])
  assert.deepEqual(readTags(undefined), [])
  assert.deepEqual(readTags('[broken'), ['[broken'])
})

test('names keep the commas inside the elements of a list', () => {
  assert.deepEqual(readNames(['Doe, J.', ' x ', '', null]), ['Doe, J.', 'x'])
  assert.deepEqual(readNames('a, b'), ['a', 'b'])
  assert.deepEqual(readNames('["a, b", "c"]'), ['a, b', 'c'])
})

test('what no database can hold is left out of a JSON array in a text, where it is escaped', () => {
  assert.deepEqual(readTags('["a\\u0000b", "\\ud800"]'), ['ab', '\ufffd'])
  assert.deepEqual(readNames('["x\\u0000y"]'), ['xy'])
})
