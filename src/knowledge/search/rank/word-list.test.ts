import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indexWords } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { isTelling } from './question-terms.ts'
import { WordList } from './word-list.ts'

const piece = fc.oneof(
  fc.constantFrom(
    'the ',
    'Walking',
    ' walked,',
    'don’t ',
    'Éclair ',
    '日本語',
    ' x1-y2',
    '\n',
    'ﬁ',
    'A'.repeat(501),
    '😀 ',
  ),
  fc.string(),
  fc.string({ unit: 'grapheme' }),
)

test('the words of any part of a text are those that the index has, each under one number', () => {
  fc.assert(
    fc.property(fc.array(fc.array(piece), { maxLength: 4 }), (texts) => {
      const list = new WordList()
      for (const text of texts.map((pieces) => pieces.join(''))) {
        const middle = Math.floor(text.length / 2)
        for (const [start, end] of [
          [0, text.length],
          [0, middle],
          [middle, text.length],
        ] as const) {
          const numbers: number[] = []
          list.read(text, start, end, numbers)
          assert.deepEqual(
            numbers.map((number) => list.words[number]),
            indexWords(text.slice(start, end)),
          )
        }
      }
      assert.equal(new Set(list.words).size, list.words.length)
      for (const [number, word] of list.words.entries()) {
        assert.equal(list.known.stems[list.places[number] as number], stemOf(word) ?? word)
        assert.equal(list.isTelling[number], isTelling(word))
      }
    }),
  )
})

test('words stay the same while very many others come, in this list and in the next', () => {
  const word = (number: number) => `w${number.toString(36)}`
  for (let round = 0; round < 3; round++) {
    const list = new WordList()
    const numbers: number[] = []
    for (let number = 0; number < 60_000; number++) {
      const own = word(40_000 * round + number)
      list.read(own, 0, own.length, numbers)
    }
    assert.deepEqual(numbers, [...numbers.keys()])
    for (const number of [0, 1, 16_383, 16_384, 59_999]) {
      assert.equal(list.words[number], word(40_000 * round + number))
      const again: number[] = []
      list.read(word(40_000 * round + number).toUpperCase(), 0, word(40_000 * round + number).length, again)
      assert.deepEqual(again, [number])
    }
  }
})
