import { type RowKind, rowNumber } from './row-number.ts'

/** A row that a search answers with. */
export interface Hit {
  noteId: number
  kind: RowKind
  position: number
  score: number
  /** The chunks of it that are near in meaning, best first; empty when it was found by its words alone. */
  chunks: readonly HitChunk[]
}

export interface HitChunk {
  number: number
  /** Of the text that was embedded. */
  hash: string
  similarity: number
}

/** A hit and why it is one. */
export interface RatedHit extends Hit {
  /** What the words say; null when they do not find it, 0 when it has none of them and is found for that. */
  words: number | null
  /** Of its nearest chunk; 0 when none is near. */
  similarity: number
  /** The better hit that it is related to, where relations were followed. */
  via?: Via
  /** What the reranking service said of it. */
  relevance?: number
}

export interface Via {
  noteId: number
  relationType: string
}

/** Rows of one note differ by it, and rows of different kinds never share it. */
export function hitKey({ kind, noteId, position }: Pick<Hit, 'kind' | 'noteId' | 'position'>): number {
  return rowNumber(kind, noteId, position)
}

/** What answers call a kind of row. */
export function typeOfKind(kind: RowKind): 'entity' | 'observation' | 'relation' {
  return kind === 'note' ? 'entity' : kind
}
