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
  for (const { noteId, kind, position, similarity, ...chunk } of chunks) {
    const key = hitKey({ noteId, kind, position })
    const row = rows.get(key)
    const own = { ...chunk, similarity }
    if (row === undefined) rows.set(key, { noteId, kind, position, similarity, chunks: [own] })
    else row.chunks.push(own)
  }
  return [...rows.values()]
}
