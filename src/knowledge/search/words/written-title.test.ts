import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TITLE_MATCH, WrittenTitle } from './written-title.ts'

const { none, sameWords, sameSpelling } = TITLE_MATCH

test('a text is a title in its spelling, in its words, or not at all', () => {
  for (const [text, title, match] of [
    ['End of year', 'end of YEAR', sameSpelling],
    [' C# ', 'C#', sameSpelling],
    ['C#', 'C++', sameWords],
    ['Cafe-au-lait!', 'Café au Lait', sameWords],
    ['Notes.md', 'Notes', sameWords],
    ['Notes', 'Notes.md', sameWords],
    ['★★★', '★★★', sameSpelling],
    ['★★★', '☆', none],
    ['End of year', 'End of year 2', none],
    ['', '', none],
    ['x'.repeat(2_000), 'x'.repeat(2_000), none],
    ['a '.repeat(40), 'a '.repeat(40), none],
  ] as const) {
    assert.equal(new WrittenTitle(text).match(title), match, `${text} | ${title}`)
  }
})

test('any text of some words is its own title', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
      const written = new WrittenTitle(text)
      assert.equal(written.match(text), written.isPossible ? sameSpelling : none)
    }),
  )
})
