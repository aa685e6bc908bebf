import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BuiltinModel } from '../../semantic/builtin/builtin-model.ts'
import { createTokenMeaning } from './token-meaning.ts'
import { WordList } from './word-list.ts'

const MEANING = createTokenMeaning(BuiltinModel.table())
const MODEL = BuiltinModel.load()

function cosine(one: string, other: string): number {
  const [a, b] = MODEL.embed([one, other]) as [Float32Array, Float32Array]
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
}

function listOf(words: readonly string[]): WordList {
  const list = new WordList()
  for (const word of words) list.read(word, 0, word.length, [])
  return list
}

test('words are as near as the vectors that the model gives them, in blocks of any length', () => {
  const places = [0, 1, 2, 3, 1_023, 1_024, 8_191, 8_192, 8_194]
  const words = ['cat', 'dogs', 'defenestration', 'city', 'chicago', 'the', 'kittens', 'village', 'understandable']
  const many = Array.from({ length: 8_195 }, (_, number) => words[places.indexOf(number)] ?? `w${number}`)
  const terms = ['pets', 'town', 'unhelpfulness']
  const found = new Map<string, number>()
  const list = listOf(many)
  assert.deepEqual(list.words, many)
  MEANING.nearWords(terms, list, -2, (term, word, value) => found.set(`${term} ${word}`, value))
  assert.equal(found.size, terms.length * many.length)
  for (const [term, asked] of terms.entries()) {
    for (const word of places) {
      const value = found.get(`${term} ${word}`) ?? 0
      assert.ok(Math.abs(value - cosine(asked, many[word] as string)) < 0.02, `${asked} ${many[word]}: ${value}`)
    }
  }
})

test('only pairs above the least cosine are told', () => {
  const found: [number, number][] = []
  MEANING.nearWords(['pets'], listOf(['pet', 'seventeen']), 0.4, (term, word) => found.push([term, word]))
  assert.deepEqual(found, [[0, 0]])
})

test('common words weigh less than telling ones', () => {
  const [the = 0, dinosaur = 0] = MEANING.weightsOf(['the', 'dinosaur'])
  assert.ok(the < dinosaur / 2, `${the} ${dinosaur}`)
})

test('a word that the model does not know is near to no other, and counts like any other', () => {
  const found: string[] = []
  const list = listOf(['მთები', 'ተራራ', 'cat'])
  MEANING.nearWords(['ყავა', 'pets'], list, 0.4, (term, word) => found.push(`${term} ${word}`))
  assert.deepEqual(found, ['1 2'])
  assert.deepEqual([...MEANING.weightsOf(['ყავა', 'ቡና'])], [1, 1])
})

test('words are as near as before after more others than are kept', () => {
  const words = ['cats', 'defenestration']
  const near = (list: readonly string[]) => {
    const found: number[] = []
    MEANING.nearWords(['pets', 'window'], listOf(list), -2, (_term, word, value) => word < 2 && found.push(value))
    return found
  }
  const before = near([...words])
  const others = Array.from({ length: 70_000 }, (_, number) => `w${number.toString(36)}`)
  assert.deepEqual(near([...words, ...others]), before)
  assert.deepEqual(near([...words]), before)
})
