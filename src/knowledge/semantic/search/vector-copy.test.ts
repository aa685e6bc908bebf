import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeVector } from '../vector-bytes.ts'
import { BestPlaces } from './best-places.ts'
import { BLOCK_BYTES, VectorArena } from './vector-arena.ts'
import { rowsPerBlock, VectorCopy } from './vector-copy.ts'

const MUCH = 64 * BLOCK_BYTES

/** One number is 1, so each row is near to one of the axes only. */
function axis(number: number, dimensions: number): Uint8Array {
  const vector = new Float32Array(dimensions)
  vector[number % dimensions] = 1
  return encodeVector(vector)
}

function foundOn(copy: VectorCopy, number: number, most: number): number[] {
  const question = new Float32Array(copy.dimensions)
  question[number] = 1
  const best = new BestPlaces(most)
  copy.scan(question, best, () => {})
  return best
    .places()
    .map((place) => copy.idAt(place))
    .sort((one, other) => one - other)
}

test('rows are found by their ids whatever was hidden, moved together and added since', () => {
  const dimensions = 2_048
  const step = fc.record({
    add: fc.integer({ min: 0, max: 300 }),
    hide: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 30 }),
    isCompacted: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      // Banks of two blocks, so that rows move between banks.
      const arena = new VectorArena(MUCH, 10)
      const copy = new VectorCopy(arena, dimensions)
      const expected = new Map<number, number>()
      let lastId = 0
      for (const { add, hide, isCompacted } of steps) {
        for (let i = 0; i < add; i++) {
          const id = ++lastId
          assert.ok(copy.append(id, id % 61, axis(id, dimensions)))
          expected.set(id, id % 61)
        }
        copy.hideNotes([...new Set(hide)].sort((one, other) => one - other))
        for (const [id, noteId] of expected) if (hide.includes(noteId)) expected.delete(id)
        if (isCompacted) {
          copy.compact()
          assert.equal(copy.hidden, 0)
        }
        assert.equal(copy.live, expected.size)
        for (const number of [1, 17, 200, dimensions - 1]) {
          const there = [...expected.keys()].filter((id) => id % dimensions === number)
          assert.deepEqual(foundOn(copy, number, there.length), there)
        }
        assert.deepEqual(foundOn(copy, 0, lastId), [...expected.keys()])
      }
      const free = arena.freeBlocks
      copy.release()
      assert.ok(arena.freeBlocks >= free)
      assert.equal(copy.live, 0)
    }),
    { numRuns: 25 },
  )
})

test('memory ends where it was said to, and what was given back is used again', () => {
  const maxBytes = 1_048_576
  for (const bankPages of [10, 16_384]) {
    const arena = new VectorArena(maxBytes, bankPages)
    const promised = arena.freeBlocks
    const copy = new VectorCopy(arena, 100)
    const rows = promised * rowsPerBlock(100)
    for (let id = 1; id <= rows; id++) assert.ok(copy.append(id, id, axis(id, 100)))
    assert.equal(copy.append(rows + 1, 1, axis(1, 100)), false)
    assert.equal(arena.freeBlocks, 0)
    assert.ok(arena.bytes <= maxBytes)
    const { bytes } = arena
    copy.release()
    assert.equal(arena.freeBlocks, promised)
    const other = new VectorCopy(arena, 8)
    for (let id = 1; id <= promised * rowsPerBlock(8); id++) assert.ok(other.append(id, id, axis(id, 8)))
    assert.equal(arena.bytes, bytes)
    assert.deepEqual(foundOn(other, 3, 2).length, 2)
  }
})

test('rows of every width fit a block, and what is found in one fits beside it', () => {
  for (const dimensions of [1, 8, 16, 17, 4_096, 8_192]) {
    assert.ok(rowsPerBlock(dimensions) >= 4)
    assert.equal(rowsPerBlock(dimensions) % 4, 0)
    // Pairs of 32 bits; one more is written than is found.
    assert.ok(8 * (rowsPerBlock(dimensions) + 1) <= 65_536)
  }
})
