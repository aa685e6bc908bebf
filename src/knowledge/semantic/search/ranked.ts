import { KIND_NAMES, type RowKind } from '../../search/row-number.ts'
import { cosine, halvesOf } from './half-floats.ts'
import type { NearChunk } from './near-chunk.ts'
import type { StoredVector, TextVector } from './store-vector-source.ts'
import type { VectorQuestion } from './vector-question.ts'

// Eight bits tell the best ones apart from the others, but not among each other: some more are read than were asked for. Of half a
// million chunks, the best 500 were among the best 553 by eight bits in each of 60 questions, the best 100 among 111.
const SPARE = { least: 64, most: 128 }

/** How many have to be read that the best `k` are among them. */
export function withSpare(k: number): number {
  return k + Math.min(SPARE.most, Math.max(SPARE.least, k))
}

/** NaN where the row has no vector to compare. */
export function similarity(question: Float32Array, { vector }: StoredVector): number {
  const halves = halvesOf(vector, question.length)
  return halves === null ? Number.NaN : cosine(question, halves)
}

/** The best of the rows by what is stored, best first. */
export function ranked({ vector, k }: VectorQuestion, rows: readonly TextVector[]): NearChunk[] {
  return rows
    .map((row) => ({ row, similarity: similarity(vector, row) }))
    .filter((one) => !Number.isNaN(one.similarity))
    .sort((one, other) => other.similarity - one.similarity || one.row.id - other.row.id)
    .slice(0, k)
    .map(({ row, ...rest }) => ({
      noteId: row.note_id,
      kind: KIND_NAMES[row.kind] as RowKind,
      position: row.position,
      number: row.number,
      hash: row.hash,
      ...rest,
    }))
}
