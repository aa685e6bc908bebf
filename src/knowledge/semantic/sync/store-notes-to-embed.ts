import { sql } from 'kysely'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import { numbersIn, textsIn } from '../../../platform/storage/json-list.ts'
import { fromListed, lookUpOrNull, unplanned } from '../../../platform/storage/look-up.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { StoredChunk } from './plan-note.ts'
import type { SyncKey } from './store-sync.ts'

/** A note that changed. */
export interface ChangedNote {
  /** Of the change; 0 for one that is tried again. */
  seq: number
  external_id: string
  /** Null when the note is gone. */
  note_id: number | null
  title: string
  created_at: Micros
  metadata: string
  size: number
  /** How many it has vectors of, also when it is gone. */
  chunks: number
}

const NOTE_COLUMNS = sql.raw(`
  n.id as note_id, coalesce(n.title, '') as title, coalesce(n.created_at, 0) as created_at,
  coalesce(n.metadata, '{}') as metadata, coalesce(n.size, 0) as size, coalesce(e.chunks, 0) as chunks`)

const changed = statement<SyncKey & { after: number; limit: number }, ChangedNote>(
  (_query, p, engine) => sql`
    select c.seq, c.external_id, ${NOTE_COLUMNS}
    from (
      select seq, external_id, project_id from note_changes
      where project_id = ${p('projectId')} and seq > ${p('after')} order by seq limit ${unplanned(engine, p('limit'))}
    ) c
    ${lookUpOrNull(engine, {
      table: 'notes',
      as: 'n',
      on: sql`n.external_id = c.external_id and n.project_id = c.project_id`,
    })}
    ${lookUpOrNull(engine, {
      table: 'note_embeddings',
      as: 'e',
      on: sql`e.project_id = c.project_id and e.model_id = ${p('modelId')} and e.note_id = coalesce(n.id,
        (select max(t.note_id) from note_trash t where t.project_id = c.project_id and t.external_id = c.external_id))`,
    })}
    order by c.seq`,
)

/** The notes behind a change, in the order of their last changes. */
export function changedNotes(reader: Reader, key: SyncKey, after: number, limit: number): Promise<ChangedNote[]> {
  return reader.run(changed, { ...key, after, limit })
}

const trashed = statement<{ projectId: number; ids: string }, { note_id: number; external_id: string }>(
  (_query, p, engine) => sql`
    select note_id, external_id ${fromListed(engine, {
      table: 'note_trash',
      column: 'external_id',
      list: textsIn(engine, p('ids')),
      where: sql`project_id = ${p('projectId')}`,
    })}`,
)

/** Notes that had one of these ids and were deleted; another one may have it by now. */
export function trashedNotes(reader: Reader, projectId: number, externalIds: readonly string[]) {
  return reader.run(trashed, { projectId, ids: JSON.stringify(externalIds) })
}

const failed = statement<{ projectId: number; modelId: number; now: Micros; limit: number }, ChangedNote>(
  (_query, p) => sql`
    select 0 as seq, n.external_id, ${NOTE_COLUMNS}
    from embedding_failures f join notes n on n.id = f.note_id
    left join note_embeddings e on e.project_id = f.project_id and e.model_id = f.model_id and e.note_id = f.note_id
    where f.project_id = ${p('projectId')} and f.model_id = ${p('modelId')} and f.due_at <= ${p('now')}
    order by f.due_at limit ${p('limit')}`,
)

/** Notes that failed and whose time has come. */
export function failedNotes(reader: Reader, key: SyncKey, now: Micros, limit: number): Promise<ChangedNote[]> {
  return reader.run(failed, { ...key, now, limit })
}

const contents = statement<{ ids: string }, { note_id: number; content: string }>(
  (_query, p, engine) => sql`
    select note_id, content from note_contents where note_id in ${numbersIn(engine, p('ids'))}`,
)

export async function contentsOf(reader: Reader, noteIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await reader.run(contents, { ids: JSON.stringify(noteIds) })
  return new Map(rows.map(({ note_id, content }) => [note_id, content]))
}

interface OfNotes {
  projectId: number
  modelId: number
  ids: string
}

function ofNotes(engine: Engine, table: string, p: <K extends keyof OfNotes>(key: K) => OfNotes[K]) {
  const where = sql`project_id = ${p('projectId')} and model_id = ${p('modelId')}`
  return fromListed(engine, { table, column: 'note_id', list: numbersIn(engine, p('ids')), where })
}

type StoredRow = StoredChunk & { note_id: number }

const stored = statement<OfNotes, StoredRow>(
  (_query, p, engine) => sql`
    select id, note_id, kind, position, number, start_at as "start", end_at as "end", hash
    ${ofNotes(engine, 'note_vectors', p)}`,
)

/** What there is of these notes, by their numbers. */
export async function storedChunks(
  reader: Reader,
  key: SyncKey,
  noteIds: readonly number[],
): Promise<Map<number, StoredRow[]>> {
  return Map.groupBy(await reader.run(stored, { ...key, ids: JSON.stringify(noteIds) }), ({ note_id }) => note_id)
}

const fingerprints = statement<OfNotes, { note_id: number; fingerprint: string }>(
  (_query, p, engine) => sql`
    select note_id, fingerprint ${ofNotes(engine, 'note_embeddings', p)}`,
)

export async function fingerprintsOf(
  reader: Reader,
  key: SyncKey,
  noteIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await reader.run(fingerprints, { ...key, ids: JSON.stringify(noteIds) })
  return new Map(rows.map(({ note_id, fingerprint }) => [note_id, fingerprint]))
}
