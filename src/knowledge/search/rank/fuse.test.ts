import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuse } from './fuse.ts'

test('what is found both ways gets the better score and a share of the other; words are told relative to the best', () => {
  const fused = fuse([
    { key: 1, words: 4, similarity: 0 },
    { key: 2, words: 8, similarity: 0.5 },
    { key: 3, words: null, similarity: 0.9 },
    { key: 4, words: null, similarity: -0.2 },
  ])
  assert.deepEqual(
    fused.map(({ key, score }) => [key, Number(score.toFixed(6))]),
    [
      [2, 1.15],
      [3, 0.9],
      [1, 0.5],
      [4, 0],
    ],
  )
})

test('nothing is fused to nothing', () => {
  assert.deepEqual(fuse([]), [])
})
