import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkNote } from '../../semantic/chunk/chunk-note.ts'
import { ROW_KINDS } from '../row-number.ts'
import { chunkStates, type KeptChunk } from './chunk-states.ts'

const CHUNKS = chunkNote({ title: 'Tea', created_at: 0 }, 'Steep it.\n\n- [fact] hot #warm\n')
const KEPT: KeptChunk[] = CHUNKS.map(({ kind, position, number, start, end, hash }) => {
  return { kind: ROW_KINDS[kind], position, number, start_at: start, end_at: end, hash }
})
const states = (kept: KeptChunk[], isWaiting = false) => chunkStates(CHUNKS, kept, isWaiting).map(({ state }) => state)

test('a chunk is ready when the vector is that of its text, and stale when it is that of another', () => {
  assert.ok(states(KEPT).every((state) => state === 'ready'))
  assert.deepEqual(new Set(states(KEPT.map((row) => ({ ...row, hash: 'other' })))), new Set(['stale']))
})

test('a chunk without a vector is pending while its note waits, else missing', () => {
  assert.deepEqual(new Set(states([], true)), new Set(['pending']))
  assert.deepEqual(new Set(states([])), new Set(['missing']))
})

test('a vector without a chunk is orphaned, and has no text', () => {
  const gone = { kind: ROW_KINDS.relation, position: 7, number: 0, start_at: 0, end_at: 0, hash: 'gone' }
  const last = chunkStates(CHUNKS, [...KEPT, gone], false).at(-1)
  assert.deepEqual(last, { kind: 'relation', position: 7, number: 0, start: 0, end: 0, text: null, state: 'orphaned' })
})
