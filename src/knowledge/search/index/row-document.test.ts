import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../text/steps.ts'
import { rowDocument, SPLIT } from './row-document.ts'

const row = (body: string) => ({
  number: 0,
  title: 'Title',
  tags: '',
  headings: '',
  body,
  place: 'here',
  scope: 'p1 kn',
})
const documentOf = (body: string) => atOnce(rowDocument(row(body)))
const MEGABYTE = 1_048_575

/** The words of a document by their places. */
function placesIn(document: string): Map<number, string> {
  const places = new Map<number, string>()
  for (const [, word, list] of document.matchAll(/'([^']*)'(?::([\d,A-D]+))? /g)) {
    for (const place of list?.split(',') ?? []) places.set(Number.parseInt(place, 10), word as string)
  }
  return places
}

function stretchAt(words: readonly string[], start: number): string {
  return words
    .slice(start, start + 64)
    .map((word) => word.slice(-5))
    .join(' ')
}

test('a short row has all of its words with their places, and no pieces', () => {
  const { document, split, pieces } = documentOf('red fish, two fishes')
  assert.deepEqual([split, pieces], [SPLIT.none, []])
  assert.equal(document, "'=p1' '=kn' 'title':1A 'red':3 'fish':4 'two':5 'fishes':6 'here':8 '+titl' '+fish' ")
})

test('a word stands at 255 places of a document, and once more in pieces', () => {
  assert.equal(documentOf('fish '.repeat(255)).split, SPLIT.none)
  assert.equal(documentOf('fish '.repeat(256)).split, SPLIT.places)
})

test('a document that is split has every word, without places', () => {
  const { document } = documentOf(`${'a '.repeat(300)}fishes end`)
  assert.equal(placesIn(document).size, 0)
  for (const word of ['=p1', '~split', 'title', 'a', 'fishes', 'end', 'here', '+fish']) {
    assert.ok(document.includes(`'${word}' `), word)
  }
})

test('each stretch of 64 words stands in a piece, none of which is more than PostgreSQL takes', () => {
  const texts = [
    Array.from({ length: 12_000 }, (_, n) => `w${n % 9 === 0 ? 'x' : n % 3_000}`),
    Array.from({ length: 17_000 }, (_, n) => `w${n}`),
    Array.from({ length: 2_300 }, (_, n) => `${'long'.repeat(120)}${n}`),
    new Array<string>(1_000).fill('a'),
  ]
  for (const words of texts) {
    const { pieces } = documentOf(words.join(' '))
    assert.ok(pieces.length > 1)
    const stretches = new Set<string>()
    for (const piece of pieces) {
      const places = placesIn(piece)
      const last = Math.max(0, ...places.keys())
      const counts = Map.groupBy(places.values(), (word) => word)
      assert.ok(last <= 16_383 && [...counts.values()].every(({ length }) => length <= 255))
      assert.ok([...counts.keys()].reduce((sum, word) => sum + word.length + 8, 0) < MEGABYTE)
      const list = Array.from({ length: last }, (_, place) => places.get(place + 1) ?? '.')
      for (let start = 0; start + 64 <= list.length; start++) stretches.add(stretchAt(list, start))
    }
    for (let start = 0; start + 64 <= words.length; start += 7) {
      assert.ok(stretches.has(stretchAt(words, start)), `from word ${start}`)
    }
  }
})

test('a row with more words than a document holds has all of them in pieces, and their stems', () => {
  const words = Array.from({ length: 2_600 }, (_, n) => `${'long'.repeat(100)}${n}`)
  const { document, split, pieces } = documentOf(`${words.join(' ')} walking 2é 東京`)
  assert.equal(split, SPLIT.words)
  assert.equal(document, "'=p1' '=kn' '~tit' '~lon' '~wal' '~2e' '~東' '~京' '~her' '~+ti' '~+wa' ")
  for (const word of ["'walking':", "'here':", "'+walk' "]) assert.ok(pieces.some((piece) => piece.includes(word)))
})
