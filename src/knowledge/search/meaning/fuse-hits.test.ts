import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hitKey } from '../hit.ts'
import { fuseHits, joinHits } from './fuse-hits.ts'

/** By words 1, 2, 3, …; by meaning 31, 32, …, and the first thirty last. All of them are near. */
function found(count: number) {
  const ids = Array.from({ length: count }, (_, at) => at + 1)
  const row = (noteId: number) => ({ noteId, kind: 'note' as const, position: 0 })
  return {
    words: ids.map((id) => ({ ...row(id), score: 1 + (count - id) / count })),
    chunks: [...ids.slice(30), ...ids.slice(0, 30)].map((id, at) => {
      return { ...row(id), number: 0, hash: `${id}`, similarity: 1 - at / count }
    }),
    nearKeys: new Set(ids.map((id) => hitKey(row(id)))),
    wordKeys: new Set<number>(),
  }
}

for (const fusion of ['weighted', 'rrf'] as const) {
  test(`a page far behind changes nothing on the pages before it, and shows no row twice (${fusion})`, () => {
    const both = found(80)
    const first = { ...both, words: both.words.slice(0, 20) }
    const near = joinHits(fuseHits(first, [20], fusion)).map(({ noteId }) => noteId)
    const far = joinHits(fuseHits(both, [20, 40, 80], fusion))
    assert.deepEqual(
      far.slice(0, near.length).map(({ noteId }) => noteId),
      near,
    )
    assert.equal(new Set(far.map(({ noteId }) => noteId)).size, 80)
    assert.equal(far.length, 80)
    const scores = far.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((one, other) => other - one),
    )
    const flat = fuseHits(both, [80], fusion)
      .flat()
      .map(({ noteId }) => noteId)
    assert.notDeepEqual(flat.slice(0, near.length), near, 'together they have another order')
  })
}

test('by meaning alone a score is the similarity, on every page', () => {
  const { chunks, nearKeys } = found(80)
  const hits = joinHits(fuseHits({ chunks, nearKeys, words: [], wordKeys: new Set() }, [20, 40, 80], 'weighted'))
  assert.deepEqual(
    hits.map(({ score }) => score),
    chunks.map(({ similarity }) => similarity),
  )
})
