import type { EmbeddingKind } from '../provider.ts'
import type { NotePlan, NoteWork } from '../sync/plan-note.ts'

export type ToEmbedThread = { id: number } & (
  | { type: 'texts'; texts: readonly string[]; kind: EmbeddingKind }
  /** `hasVectors`: the thread's own model embeds what is new. */
  | { type: 'notes'; notes: readonly NoteWork[]; hasVectors: boolean }
)

export type FromEmbedThread = { id: number } & (
  | { type: 'texts'; vectors: Float32Array }
  /** Vectors of all that is added, one after the other, in 16 bits a number; then the plans are without texts. */
  | { type: 'notes'; plans: NotePlan[]; vectors: Uint8Array | null }
  | { type: 'failed'; message: string }
)
