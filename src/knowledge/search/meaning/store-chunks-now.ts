/** What observations and relations said when they were embedded, and what they say now. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { NearChunk } from '../../semantic/search/near-chunk.ts'
import type { SyncKey } from '../../semantic/sync/store-sync.ts'
import '../../semantic/tables.ts'
import '../../tables.ts'
import { ROW_KINDS, type RowKind } from '../row-number.ts'

export type EmbeddedPart = Pick<NearChunk, 'noteId' | 'kind' | 'position'> & { hash: string }

const embedded = statement<
  SyncKey & { parts: string },
  { note_id: number; kind: number; position: number; hash: string }
>((_query, p, engine) => {
  const wanted =
    engine === 'sqlite'
      ? sql`(select value ->> 0 as note, value ->> 1 as kind, value ->> 2 as position
          from json_each(${p('parts')})) as wanted cross join`
      : sql`(select (value ->> 0)::bigint as note, (value ->> 1)::int as kind, (value ->> 2)::int as position
          from json_array_elements(${p('parts')}::json)) as wanted inner join`
  return sql`
    select v.note_id, v.kind, v.position, v.hash from ${wanted} note_vectors as v
    on v.project_id = ${p('projectId')} and v.model_id = ${p('modelId')} and v.note_id = wanted.note
      and v.kind = wanted.kind and v.position = wanted.position`
})

const KINDS = Object.keys(ROW_KINDS) as readonly RowKind[]

/** The parts whose vectors have these places. */
export async function embeddedParts(
  reader: Reader,
  key: SyncKey,
  parts: readonly Pick<NearChunk, 'noteId' | 'kind' | 'position'>[],
): Promise<EmbeddedPart[]> {
  const list = parts.map(({ noteId, kind, position }) => [noteId, ROW_KINDS[kind], position])
  const rows = await reader.run(embedded, { ...key, parts: JSON.stringify(list) })
  return rows.map(({ note_id: noteId, kind, position, hash }) => {
    return { noteId, kind: KINDS[kind] as RowKind, position, hash }
  })
}

interface StoredObservation {
  kind: 'observation'
  noteId: number
  position: number
  category: string
  content: string
  context: string | null
}

interface StoredRelation {
  kind: 'relation'
  noteId: number
  position: number
  type: string
  name: string
  context: string | null
}

export type StoredPart = StoredObservation | StoredRelation

// More than a chunk takes of a text, and more parts than have chunks.
const LONGEST = sql.lit(1_000)
const MOST = sql.lit(1_000)

const observations = statement<{ ids: string }, Omit<StoredObservation, 'kind' | 'noteId'> & { note_id: number }>(
  (_query, p, engine) => sql`
    select note_id, position, substr(category, 1, ${LONGEST}) as category, substr(content, 1, ${LONGEST}) as content,
      substr(context, 1, ${LONGEST}) as context
    from observations where note_id in ${numbersIn(engine, p('ids'))} and position < ${MOST} order by note_id, position`,
)

/** The first ones of each note, as much of them as is embedded. */
export async function observationsOf(reader: Reader, noteIds: readonly number[]): Promise<StoredObservation[]> {
  const rows = await reader.run(observations, { ids: JSON.stringify(noteIds) })
  return rows.map(({ note_id: noteId, ...row }) => ({ kind: 'observation', noteId, ...row }))
}

const relations = statement<{ ids: string }, Omit<StoredRelation, 'kind' | 'noteId'> & { note_id: number }>(
  (_query, p, engine) => sql`
    select from_id as note_id, position, substr(relation_type, 1, ${LONGEST}) as type,
      substr(to_name, 1, ${LONGEST}) as name, substr(context, 1, ${LONGEST}) as context
    from relations where from_id in ${numbersIn(engine, p('ids'))} and position < ${MOST} order by from_id, position`,
)

/** The same of relations. */
export async function relationsOf(reader: Reader, noteIds: readonly number[]): Promise<StoredRelation[]> {
  const rows = await reader.run(relations, { ids: JSON.stringify(noteIds) })
  return rows.map(({ note_id: noteId, ...row }) => ({ kind: 'relation', noteId, ...row }))
}
