import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableLines } from './print-table.ts'

test('columns are as wide as their widest cell, and nothing follows the last one', () => {
  const lines = tableLines(
    ['NAME', 'ID'],
    [
      ['Zoë', '1'],
      ['Wilhelmina', '22'],
      ['𝒜', ''],
    ],
  )
  assert.deepEqual(lines, ['NAME        ID', 'Zoë         1', 'Wilhelmina  22', '𝒜'])
})

test('control characters of what is listed do not reach the terminal', () => {
  assert.deepEqual(tableLines(['NAME'], [['a\u001b[2Jb\u202e']]), ['NAME', 'a\u{fffd}[2Jb\u{fffd}'])
})

test('a list of very many is shown: all users of a large organization', () => {
  const rows = Array.from({ length: 150_000 }, (_, number) => [String(number)])
  const lines = tableLines(['NUMBER'], rows)
  assert.equal(lines.length, 150_001)
  assert.equal(lines.at(-1), '149999')
})
