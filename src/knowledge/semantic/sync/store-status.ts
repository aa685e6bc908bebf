import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import type { SyncKey } from './store-sync.ts'

export interface EmbeddingCounts {
  /** Notes with vectors. */
  notes: number
  chunks: number
  embeddings: number
  /** Notes that changed since, or that are tried again. */
  pending: number
  /** Notes that are not tried again. */
  failed: number
}

export interface FailedNote {
  external_id: string
  title: string
  attempts: number
  error: string
}

export async function embeddingCounts(reader: Reader, key: SyncKey): Promise<EmbeddingCounts> {
  const { projectId, modelId } = key
  const { rows } = await sql<EmbeddingCounts>`
    with synced as (
      select coalesce(max(synced_seq), 0) as seq from project_embeddings
      where project_id = ${projectId} and model_id = ${modelId}
    ), failing as (
      -- What changed since is waiting in any case.
      select f.due_at from embedding_failures f join notes n on n.id = f.note_id
      where f.project_id = ${projectId} and f.model_id = ${modelId} and not exists (
        select 1 from note_changes c
        where c.project_id = f.project_id and c.external_id = n.external_id and c.seq > (select seq from synced))
    )
    select
      (select count(*) from note_embeddings
        where project_id = ${projectId} and model_id = ${modelId} and chunks > 0) as notes,
      (select coalesce(sum(chunks), 0) from note_embeddings
        where project_id = ${projectId} and model_id = ${modelId}) as chunks,
      (select count(*) from note_vectors where project_id = ${projectId} and model_id = ${modelId}) as embeddings,
      (select count(*) from note_changes where project_id = ${projectId} and seq > (select seq from synced))
      + (select count(*) from failing where due_at is not null) as pending,
      (select count(*) from failing where due_at is null) as failed`.execute(reader.query)
  const { notes, chunks, embeddings, pending, failed } = rows[0] as EmbeddingCounts
  return {
    notes: Number(notes),
    chunks: Number(chunks),
    embeddings: Number(embeddings),
    pending: Number(pending),
    failed: Number(failed),
  }
}

/** Notes that could not be embedded, the latest first. */
export async function someFailedNotes(reader: Reader, key: SyncKey, limit: number): Promise<FailedNote[]> {
  return reader.query
    .selectFrom('embedding_failures as f')
    .innerJoin('notes as n', 'n.id', 'f.note_id')
    .select(['n.external_id', 'n.title', 'f.attempts', 'f.error'])
    .where('f.project_id', '=', key.projectId)
    .where('f.model_id', '=', key.modelId)
    .orderBy('f.failed_at', 'desc')
    .limit(limit)
    .execute()
}

/** Why the provider could not be asked the last time, where it could not. */
export async function lastProblem(reader: Reader, { projectId, modelId }: SyncKey): Promise<string | null> {
  const row = await reader.query
    .selectFrom('project_embeddings')
    .select('last_error')
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .executeTakeFirst()
  return row?.last_error ?? null
}

export interface EmbeddingTrouble {
  /** Notes of all projects that are not tried again. */
  failed: number
  /** Projects whose provider failed the last time. */
  projects: number
  lastError: string | null
}

/** Of the whole database, for whoever looks from outside. */
export async function embeddingTrouble(reader: Reader): Promise<EmbeddingTrouble> {
  const { rows } = await sql<{ failed: number; projects: number; last_error: string | null }>`
    select
      (select count(*) from embedding_failures where due_at is null) as failed,
      (select count(*) from project_embeddings where last_error is not null) as projects,
      (select max(last_error) from project_embeddings) as last_error`.execute(reader.query)
  const row = rows[0]
  return { failed: Number(row?.failed ?? 0), projects: Number(row?.projects ?? 0), lastError: row?.last_error ?? null }
}
