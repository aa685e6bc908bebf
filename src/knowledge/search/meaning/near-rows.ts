import type { NearChunk } from '../../semantic/search/near-chunk.ts'
import { type Hit, type HitChunk, hitKey } from '../hit.ts'

/** A row and the chunks of it that are near in meaning. */
export interface NearRow extends Omit<Hit, 'score'> {
  similarity: number
  chunks: HitChunk[]
}

/** Chunks come best first, so a row stands where its best chunk does. */
export function nearRows(chunks: readonly NearChunk[]): NearRow[] {
  const rows = new Map<number, NearRow>()
  for (const { noteId, kind, position, number, similarity } of chunks) {
    const key = hitKey({ noteId, kind, position })
    const row = rows.get(key)
    if (row === undefined) rows.set(key, { noteId, kind, position, similarity, chunks: [{ number, similarity }] })
    else row.chunks.push({ number, similarity })
  }
  return [...rows.values()]
}
