import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuseByRank } from './fuse-by-rank.ts'

test('a row gets 1 / (60 + place) of each way that finds it', () => {
  const rows = [
    { key: 1, words: 9, similarity: 0 },
    { key: 2, words: 3, similarity: 0.4 },
    { key: 3, words: null, similarity: 0.9 },
  ]
  const expected = [
    [2, 1 / 62 + 1 / 62],
    [1, 1 / 61],
    [3, 1 / 61],
  ]
  assert.deepEqual(
    fuseByRank(rows).map(({ key, score }) => [key, score]),
    expected,
  )
})

test('how far a way is ahead of itself does not matter, only who is', () => {
  const order = (words: number[]) =>
    fuseByRank(words.map((score, key) => ({ key, words: score, similarity: 1 - key / 10 }))).map(({ key }) => key)
  assert.deepEqual(order([1, 5, 2]), order([1, 5_000, 2]))
  assert.deepEqual(fuseByRank([]), [])
})
