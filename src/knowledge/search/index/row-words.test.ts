import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bm25, weighWord } from '../find/bm25.ts'
import { indexWords } from '../words/search-text.ts'
import { countingLongRow } from './count-long-row.ts'
import { countWords, lookupOf, markWith, RowWords } from './row-words.ts'

const EMPTY = { title: '', tags: '', headings: '', body: '', place: '' }

function row(texts: Partial<typeof EMPTY>): RowWords {
  return new RowWords(countWords({ ...EMPTY, ...texts }).bytes)
}

function score(question: string, texts: Partial<typeof EMPTY>): number {
  return bm25(row(texts), [weighWord(question, 100, 10)], 1)
}

test('words are counted by where they stand', () => {
  const counted = row({ title: 'Coffee', tags: 'coffee', headings: 'coffee', body: 'coffee coffee tea' })
  assert.equal(counted.count(lookupOf('coffee').word), 10 + 5 + 3 + 2)
  assert.equal(counted.count(lookupOf('tea').word), 1)
  assert.equal(counted.count(lookupOf('milk').word), 0)
  assert.equal(counted.length, 6)
})

test('stems are those that differ from their word', () => {
  assert.deepEqual(countWords({ ...EMPTY, body: 'connections connected connect' }).stems, ['connect'])
})

test('a title is more than a tag, a tag more than a heading, a heading more than a text', () => {
  const scores = [{ title: 'x1' }, { tags: 'x1' }, { headings: 'x1' }, { body: 'x1' }, { body: 'y' }].map((texts) =>
    score('x1', texts),
  )
  assert.deepEqual(
    scores,
    scores.toSorted((one, other) => other - one),
  )
  assert.equal(new Set(scores).size, 5)
})

test('the word is more than another form of it, which is more than nothing', () => {
  const scores = ['connection', 'connected', 'tea'].map((body) => score('connection', { body }))
  assert.deepEqual(
    scores,
    scores.toSorted((one, other) => other - one),
  )
  assert.equal(scores[2], 0)
  assert.ok((scores[1] as number) > 0)
})

test('the beginning of a word in a title counts', () => {
  assert.ok(score('cof', { title: 'Coffee' }) > 0)
  assert.equal(score('cof', { body: 'Coffee' }), 0)
})

test('bytes at any place in memory, and no bytes, can be read', () => {
  const { bytes } = countWords({ ...EMPTY, body: 'coffee' })
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  assert.equal(new RowWords(shifted.subarray(3)).count(lookupOf('coffee').word), 1)
  assert.equal(new RowWords(new Uint8Array()).count(lookupOf('coffee').word), 0)
  assert.equal(new RowWords(new Uint8Array()).length, 0)
})

test('a text of any size takes a bounded number of bytes', () => {
  const body = Array.from({ length: 100_000 }, (_, n) => `w${n}`).join(' ')
  assert.ok(countWords({ ...EMPTY, body }).bytes.length < 50_000)
})

test('every word of a text is counted as often as it is there, in whatever letters', () => {
  const part = fc.constantFrom(
    'coffee',
    'Tea',
    'TEA',
    'x1',
    'é',
    'É',
    '茶',
    'a'.repeat(600),
    '-',
    "'",
    ' ',
    '\n',
    '@',
    '[',
    '`',
    '{',
    '/',
    ':',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const body = parts.join('')
      const counted = countWords({ ...EMPTY, body })
      const words = indexWords(body)
      assert.deepEqual(counted.words, [...new Set(words)])
      const row = new RowWords(counted.bytes)
      for (const word of words)
        assert.equal(row.count(lookupOf(word).word), words.filter((other) => other === word).length)
    }),
  )
})

test('a row counts the same whatever rows were counted before', () => {
  const texts = { ...EMPTY, title: 'Connections', body: 'connected connection connections tea teas' }
  const first = countWords(texts)
  for (let row = 0; row < 25; row++) {
    countWords({ ...EMPTY, body: Array.from({ length: 1_000 }, (_, at) => `w${row}x${at}`).join(' ') })
    // Words that are new here share their stems with some that are not.
    countWords({ ...EMPTY, body: `connecting connects${row}` })
    assert.deepEqual(countWords(texts), first)
  }
})

test('rows have the same mark when they have the same words at the same places', () => {
  const texts = { ...EMPTY, title: 'Coffee', body: 'coffee tea milk' }
  const { mark } = countWords(texts)
  assert.ok(Number.isSafeInteger(mark))
  assert.equal(countWords({ ...texts, body: 'Coffee, TEA\n milk!' }).mark, mark)
  for (const other of [
    { body: 'coffee tea' },
    { body: 'coffee milk tea' },
    { body: 'coffee tea milk milk' },
    { body: 'coffee tea', place: 'milk' },
    { body: 'tea milk', tags: 'coffee' },
    { title: '' },
    { title: 'Café' },
  ]) {
    assert.notEqual(countWords({ ...texts, ...other }).mark, mark, JSON.stringify(other))
  }
  assert.notEqual(markWith(mark, 'p1 kn'), markWith(mark, 'p1 ko'))
  assert.equal(markWith(mark, 'p1 kn'), markWith(mark, 'p1 kn'))
})

// One or the other at each place: all words made of these have the same hash.
const SAME_HASH = [
  'jghwkr fmhgod',
  'roxdek pfsnse',
  'txqcbc riswtt',
  'thagjc ltctyk',
  'llyarn nqbwdd',
  'tjzfnk xbikmz',
  'xrmjqh pdbzkm',
]

test('words that share a hash are counted one by one, however many they are', () => {
  let words = ['']
  for (const pair of SAME_HASH) words = words.flatMap((word) => pair.split(' ').map((end) => word + end))
  assert.equal(new Set(words.map((word) => lookupOf(word).word)).size, 1)
  for (let again = 0; again < 2; again++) {
    assert.deepEqual(countWords({ ...EMPTY, body: `${words.join(' ')} ${words.join(' ')}` }).words, words)
  }
})

test('a long row is counted as a short one is, although others are counted meanwhile', () => {
  const words = Array.from(
    { length: 3_000 },
    (_, at) => `connecting${at % 700} running${at % 50 === 0 ? 's' : ''} 東京都`,
  )
  const long = { title: 'Running Über', tags: 'tea', headings: 'Runs', body: words.join(' '), place: 'a/running' }
  const many = { ...long, body: Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(' ') }
  for (const row of [long, many, EMPTY]) {
    const { mark: _, ...expected } = countWords(row)
    const steps = countingLongRow(row)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        assert.deepEqual(step.value, expected)
        break
      }
      countWords(long)
    }
  }
})
