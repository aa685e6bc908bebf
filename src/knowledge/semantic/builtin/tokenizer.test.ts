import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { readModelFile } from './model-file.ts'
import { Tokenizer } from './tokenizer.ts'

const { vocabulary } = readModelFile(readFileSync(new URL('model.bin', import.meta.url)), 'model.bin')
const tokenizer = new Tokenizer(vocabulary)
const tokensOf = (text: string) => tokenizer.encode(text).map((id) => vocabulary[id])

test('texts are split as the reference tokenizer splits them', () => {
  const fixture = JSON.parse(readFileSync(new URL('tokenizer.fixture.json', import.meta.url), 'utf8')) as [
    string,
    string[],
  ][]
  assert.ok(fixture.length > 200)
  for (const [text, expected] of fixture) assert.deepEqual(tokensOf(text), expected, JSON.stringify(text))
})

test('a word that was split once is split alike again', () => {
  const text = 'Unforeseeable embeddings, unforeseeable embeddings'
  assert.deepEqual(tokensOf(text), tokensOf(text))
})

test('a lone surrogate counts as nothing', () => {
  assert.deepEqual(tokensOf('ab\ud800cd'), tokensOf('abcd'))
  assert.deepEqual(tokensOf('\udfff'), [])
})

test('control characters vanish and do not part a word', () => {
  assert.deepEqual(tokensOf('kno\0wl\u0007edge'), ['knowledge'])
})

test('a megabyte of one letter, of marks or of brackets is split without an end of time', () => {
  const million = 1_000_000
  assert.deepEqual(tokensOf('a'.repeat(million)), ['[UNK]'])
  assert.deepEqual(tokensOf(`e${'\u0301\u0316'.repeat(million / 2)}`), ['e'])
  assert.equal(tokenizer.encode('('.repeat(million)).length, million)
  assert.equal(tokenizer.encode('漢'.repeat(million)).length, million)
})

test('any string gives ids of the vocabulary', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) =>
      tokenizer.encode(text).every((id) => Number.isInteger(id) && vocabulary[id] !== undefined),
    ),
  )
})
