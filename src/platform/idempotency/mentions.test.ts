import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { emailsIn } from './mentions.ts'

/** The same, cut into pieces by expressions: simple, and slow in a long text. */
function emailsBySplitting(text: string): Set<string> {
  const found = new Set<string>()
  for (const between of [/\s+/, /[\s"'<>(),;:]+/]) {
    for (const word of text.split(between)) {
      const parts = word.split('@')
      for (let at = 0; at + 1 < parts.length; at++) {
        if (parts[at] === '' || parts[at + 1] === '') continue
        found.add(`${parts[at]}@${parts[at + 1]}`)
        at++
      }
    }
  }
  return found
}

test('addresses are found in a sentence and in a list', () => {
  const found = new Set(emailsIn(`write to o'brien@a.example, <ada@b.example> or (eve@c.example)`))
  for (const email of ["o'brien@a.example,", 'ada@b.example', 'eve@c.example']) assert.ok(found.has(email), email)
})

test('what stands around each sign is what cutting the text into words finds', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '@',
    '@',
    ' ',
    '\n',
    '\u00a0',
    '\u2003',
    '\ufeff',
    '"',
    "'",
    '<',
    ',',
    ';',
    'é',
    '😀',
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      assert.deepEqual(new Set(emailsIn(text)), emailsBySplitting(text))
    }),
  )
})
