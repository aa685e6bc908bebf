import type { Generated } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'

export interface EmbeddingModelsTable {
  id: Generated<number>
  provider: string
  name: string
  version: string
  dimensions: number
  created_at: Micros
}

export interface ProjectEmbeddingsTable {
  project_id: number
  model_id: number
  /** Of `note_changes`: vectors are those of the notes up to here. */
  synced_seq: Generated<number>
  /** Not 0: everything is embedded, whether or not it is known, until the last change is reached. */
  forced_seq: Generated<number>
  /** Counts the transactions that changed vectors. */
  change_seq: Generated<number>
  /** When the model had all notes for the first time; questions are put to it from then on. */
  completed_at: Micros | null
  /** In a row; of the provider, not of a note. */
  failures: Generated<number>
  last_error: string | null
  due_at: Generated<Micros>
  lease_owner: string | null
  leased_until: Generated<Micros>
}

export interface NoteEmbeddingsTable {
  project_id: number
  model_id: number
  note_id: number
  seq: number
  chunks: number
  fingerprint: string
}

export interface NoteVectorsTable {
  id: Generated<number>
  project_id: number
  model_id: number
  note_id: number
  /** A number of ROW_KINDS. */
  kind: number
  position: number
  number: number
  hash: string
  start_at: number
  end_at: number
  /** See vector-bytes.ts. */
  vector: Uint8Array
}

export interface EmbeddingFailuresTable {
  project_id: number
  model_id: number
  note_id: number
  attempts: number
  /** Null: it is not tried again before the note changes. */
  due_at: Micros | null
  error: string
  failed_at: Micros
}

declare module '../../platform/storage/tables.ts' {
  interface Tables {
    embedding_models: EmbeddingModelsTable
    project_embeddings: ProjectEmbeddingsTable
    note_embeddings: NoteEmbeddingsTable
    note_vectors: NoteVectorsTable
    embedding_failures: EmbeddingFailuresTable
  }
}
