import { sql } from 'kysely'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../../platform/storage/database.ts'
import { numbersIn, textsIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { ChunkPlace, StoredChunk } from './plan-note.ts'
import type { SyncKey } from './store-sync.ts'

export interface NewVector extends ChunkPlace {
  noteId: number
  vector: Uint8Array
}

type VectorRow = SyncKey & NewVector

const insertOne = statement<VectorRow>(
  (_query, p) => sql`
    insert into note_vectors (project_id, model_id, note_id, kind, position, number, hash, start_at, end_at, vector)
    values (${p('projectId')}, ${p('modelId')}, ${p('noteId')}, ${p('kind')}, ${p('position')}, ${p('number')},
      ${p('hash')}, ${p('start')}, ${p('end')}, ${p('vector')})`,
)

const insertMany = statement<{ projectId: number; modelId: number; rows: string }>(
  (_query, p) => sql`
    insert into note_vectors (project_id, model_id, note_id, kind, position, number, hash, start_at, end_at, vector)
    select ${p('projectId')}::bigint, ${p('modelId')}::bigint, (value ->> 0)::bigint, (value ->> 1)::int,
      (value ->> 2)::int, (value ->> 3)::int, value ->> 4, (value ->> 5)::int, (value ->> 6)::int,
      decode(value ->> 7, 'base64')
    from json_array_elements(${p('rows')}::json)`,
)

export async function insertVectors(tx: Transaction, key: SyncKey, rows: readonly NewVector[]): Promise<void> {
  if (rows.length === 0) return
  if (tx.engine === 'sqlite') {
    return tx.changeEach(
      insertOne,
      rows.map((row) => ({ ...key, ...row })),
    )
  }
  const values = rows.map(({ noteId, kind, position, number, hash, start, end, vector }) => {
    return [noteId, kind, position, number, hash, start, end, Buffer.from(vector).toString('base64')]
  })
  await tx.change(insertMany, { ...key, rows: JSON.stringify(values) })
}

const move = statement<StoredChunk>(
  (_query, p) => sql`
    update note_vectors set kind = ${p('kind')}, position = ${p('position')}, number = ${p('number')},
      start_at = ${p('start')}, end_at = ${p('end')}
    where id = ${p('id')}`,
)

export async function moveVectors(tx: Transaction, rows: readonly StoredChunk[]): Promise<void> {
  await tx.changeEach(move, rows)
}

const remove = statement<{ ids: string }>(
  (_query, p, engine) => sql`delete from note_vectors where id in ${numbersIn(engine, p('ids'))}`,
)

export async function removeVectors(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.change(remove, { ids: JSON.stringify(ids) })
}

interface Embedded {
  noteId: number
  seq: number
  chunks: number
  fingerprint: string
}

const record = statement<SyncKey & Embedded>(
  (_query, p) => sql`
    insert into note_embeddings (project_id, model_id, note_id, seq, chunks, fingerprint)
    values (${p('projectId')}, ${p('modelId')}, ${p('noteId')}, ${p('seq')}, ${p('chunks')}, ${p('fingerprint')})
    on conflict (project_id, model_id, note_id) do update
    set seq = excluded.seq, chunks = excluded.chunks, fingerprint = excluded.fingerprint`,
)

/** Says that the vectors of these notes changed. */
export async function recordEmbeddings(tx: Transaction, key: SyncKey, notes: readonly Embedded[]): Promise<void> {
  await tx.changeEach(
    record,
    notes.map((note) => ({ ...key, ...note })),
  )
}

const stale = statement<SyncKey & { noteId: number; hashes: string }>(
  (_query, p, engine) => sql`
    delete from note_vectors where project_id = ${p('projectId')} and model_id = ${p('modelId')}
      and note_id = ${p('noteId')} and hash not in ${textsIn(engine, p('hashes'))}`,
)

/** Takes away what a note no longer says, from vectors that nobody makes any more but that still answer. */
export async function dropStaleVectors(
  tx: Transaction,
  key: SyncKey,
  note: { noteId: number; hashes: readonly string[] },
): Promise<void> {
  const gone = await tx.change(stale, { ...key, noteId: note.noteId, hashes: JSON.stringify(note.hashes) })
  if (gone === 0) return
  await sql`
    update project_embeddings set change_seq = change_seq + 1
    where project_id = ${key.projectId} and model_id = ${key.modelId}`.execute(tx.query)
  await sql`
    update note_embeddings set chunks = chunks - ${gone}, seq = (
      select change_seq from project_embeddings where project_id = ${key.projectId} and model_id = ${key.modelId})
    where project_id = ${key.projectId} and model_id = ${key.modelId} and note_id = ${note.noteId}`.execute(tx.query)
}

export interface NoteFailure {
  noteId: number
  attempts: number
  dueAt: Micros | null
  error: string
  failedAt: Micros
}

export async function attemptsOf(reader: Reader, key: SyncKey, noteId: number): Promise<number> {
  const row = await reader.query
    .selectFrom('embedding_failures')
    .select('attempts')
    .where('project_id', '=', key.projectId)
    .where('model_id', '=', key.modelId)
    .where('note_id', '=', noteId)
    .executeTakeFirst()
  return row?.attempts ?? 0
}

export async function recordFailure(tx: Transaction, key: SyncKey, failure: NoteFailure): Promise<void> {
  const values = {
    attempts: failure.attempts,
    due_at: failure.dueAt,
    error: failure.error,
    failed_at: failure.failedAt,
  }
  await tx.query
    .insertInto('embedding_failures')
    .values({ project_id: key.projectId, model_id: key.modelId, note_id: failure.noteId, ...values })
    .onConflict((conflict) => conflict.columns(['project_id', 'model_id', 'note_id']).doUpdateSet(values))
    .execute()
}

const forgive = statement<SyncKey & { ids: string }>(
  (_query, p, engine) => sql`
    delete from embedding_failures where project_id = ${p('projectId')} and model_id = ${p('modelId')}
      and note_id in ${numbersIn(engine, p('ids'))}`,
)

export async function forgetFailures(tx: Transaction, key: SyncKey, noteIds: readonly number[]): Promise<void> {
  if (noteIds.length > 0) await tx.change(forgive, { ...key, ids: JSON.stringify(noteIds) })
}

/** Some rows of a model that is not used any more. How many; 0 when it is gone. */
export async function removeModelRows(tx: Transaction, key: SyncKey, limit: number): Promise<number> {
  // Who comes back to the model before all of it is gone must look at every note again.
  await sql`
    update project_embeddings set synced_seq = 0
    where project_id = ${key.projectId} and model_id = ${key.modelId} and synced_seq > 0`.execute(tx.query)
  const isOfModel = sql`project_id = ${key.projectId} and model_id = ${key.modelId}`
  for (const table of ['note_vectors', 'note_embeddings', 'embedding_failures'] as const) {
    const [column, own] =
      table === 'note_vectors' ? [sql.raw('id'), sql``] : [sql.raw('note_id'), sql`${isOfModel} and`]
    // NOTE Of vectors only the id is asked for: else they are looked up by the model, all of it for each step.
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ${own} ${column} in (
        select ${column} from ${sql.table(table)} where ${isOfModel} limit ${limit})`.execute(tx.query)
    if ((numAffectedRows ?? 0n) > 0n) return Number(numAffectedRows)
  }
  await tx.query
    .deleteFrom('project_embeddings')
    .where('project_id', '=', key.projectId)
    .where('model_id', '=', key.modelId)
    .execute()
  return 0
}

export async function projectsWithVectors(reader: Reader): Promise<number[]> {
  const rows = await reader.query.selectFrom('project_embeddings').select('project_id').distinct().execute()
  return rows.map(({ project_id: id }) => id)
}

/** Some rows of a project that is going; 0 when none is left. */
export async function removeVectorsOf(tx: Transaction, projectId: number, limit: number): Promise<number> {
  const row = await tx.query
    .selectFrom('project_embeddings')
    .select('model_id')
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  if (row === undefined) return 0
  // The row itself counts, too.
  return (await removeModelRows(tx, { projectId, modelId: row.model_id }, limit)) + 1
}
