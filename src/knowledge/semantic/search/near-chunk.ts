import type { RowKind } from '../../search/row-number.ts'

export interface NearChunk {
  noteId: number
  kind: RowKind
  position: number
  number: number
  /** The cosine. */
  similarity: number
}
