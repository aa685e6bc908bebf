import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexWords } from '../words/search-text.ts'
import {
  BULKY_PART,
  bulkyPartWord,
  bulkyWord,
  nameBeginning,
  nameWords,
  ownTypeWord,
  scopeWords,
  typeWord,
} from './search-scope.ts'

test('every scope word is one word to the tokenizer', () => {
  for (const type of ['note', 'meeting_note', 'zebra', 'Ünïcode 東京', "it's; drop"]) {
    const words = [...scopeWords(12, 'note'), ownTypeWord(type), bulkyWord(12), BULKY_PART, bulkyPartWord(12)]
    for (const word of words) assert.deepEqual(indexWords(word), [word])
  }
})

test('different types have different words', () => {
  const types = ['a', 'z', 'zz', 'a_b', 'a-b', 'azb', 'z2nz', '_', '']
  assert.equal(new Set(types.map(typeWord)).size, types.length)
})

test('a name is found by any beginning of its words', () => {
  const kept = nameWords(3, ['coffee', '\u{20bb7}\u{2000b}', '東京'])
  for (const beginning of ['c', 'co', 'cof', 'coff', 'coffee', '\u{20bb7}', '\u{20bb7}\u{2000b}', '東', '東京']) {
    const { word, isBeginning } = nameBeginning(3, beginning)
    assert.ok(
      kept.some((other) => (isBeginning ? other.startsWith(word) : other === word)),
      beginning,
    )
  }
  for (const word of kept) assert.ok(word.isWellFormed())
})

test('a type has the same word in every Unicode form', () => {
  assert.equal(ownTypeWord('u\u0308bung'), ownTypeWord('\u00fcbung'))
})
