import type { RowKind } from '../../search/row-number.ts'

export interface NearChunk {
  noteId: number
  kind: RowKind
  position: number
  number: number
  /** Of the text that was embedded. */
  hash: string
  /** The cosine. */
  similarity: number
}
