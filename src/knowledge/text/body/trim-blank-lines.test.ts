import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { trimBlankLines } from './trim-blank-lines.ts'

test('blank lines around a text go, with the ending of its last line, whichever it is', () => {
  for (const [text, trimmed] of [
    ['\r\nline1\r\nline2\r\n\r\n', 'line1\r\nline2'],
    ['\nline1\nline2\n\n', 'line1\nline2'],
    [' \t\n  a  \r\n \r\n', '  a  '],
    ['a', 'a'],
    ['a\r', 'a\r'],
    [' \r\n ', ''],
    ['\r\n', ''],
    ['', ''],
  ] as const) {
    assert.equal(trimBlankLines(text), trimmed)
  }
})

test('whatever is trimmed, only blanks go and no line ending is cut in half', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\r', '\n', '\r\n'), maxLength: 30 })
  fc.assert(
    fc.property(text, (text) => {
      const trimmed = trimBlankLines(text)
      const content = text.trim()
      assert.equal(trimmed.trim(), content)
      if (content === '') return
      const start = text.indexOf(content) - trimmed.indexOf(content)
      const end = start + trimmed.length
      assert.equal(text.slice(start, end), trimmed)
      assert.notEqual(text.slice(start - 1, start + 1), '\r\n')
      assert.notEqual(text.slice(end - 1, end + 1), '\r\n')
      assert.ok(!trimmed.endsWith('\n'))
    }),
    { numRuns: 500 },
  )
})
