import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asCode, oneLine, quoted } from './quote.ts'

const BREAKS = ['\n', '\r', '\r\n', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029']
const hostile = fc
  .array(fc.constantFrom(...BREAKS, '# ', '> ', '```', '`', '~~~', '    ', '<!--', '-->', '\t', 'a', '😀', '\ud83d'))
  .map((parts) => parts.join(''))

test('every line of what is quoted is marked, whatever ends a line', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const line of quoted(text).split(/\r\n|[\p{Zl}\p{Zp}]|(?!\t)\p{Cc}/u)) assert.match(line, /^>/)
    }),
  )
  assert.equal(quoted('a\n\n# b\u2028c'), '> a\n>\n> # b\n> c')
})

test('a name stays on its line, and within its length', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 20 }), (text, most) => {
      const line = oneLine(text, most)
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}]/u)
      assert.ok(line.length <= most + 1)
    }),
  )
  assert.equal(oneLine('  a \n b ', 10), 'a b')
  assert.equal(oneLine('abcdef', 3), 'abc…')
  assert.equal(oneLine(' '.repeat(1_000_000), 3), '…')
})

test('a name with backticks is code as a whole', () => {
  assert.equal(asCode('docs/a', 10), '`docs/a`')
  assert.equal(asCode('a`b``c', 10), '``` a`b``c ```')
  assert.equal(asCode('`', 10), '`` ` ``')
})
