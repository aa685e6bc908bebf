/** What is shown of the rows that a search found. */
import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { Note } from '../../note/note.ts'
import type { StoredObservation } from '../../note/store-observations.ts'
import { cutColumn } from '../../note/store-shown.ts'
import '../../tables.ts'
import type { RelationsTable } from '../../tables.ts'

const NOTE_COLUMNS = ['id', 'external_id', 'title', 'permalink', 'file_path', 'metadata', 'size', 'updated_at'] as const

export type HitNote = Pick<Note, (typeof NOTE_COLUMNS)[number]>

const notesByIds = statement<{ projectId: number; ids: string }, HitNote>(
  (_query, p, engine) => sql`
    select ${sql.join(NOTE_COLUMNS.map((column) => sql.ref(column)))} from notes
    where id in ${numbersIn(engine, p('ids'))} and +project_id = ${p('projectId')}`,
)

/** Those of the project; whatever else is asked for is not there. */
export async function hitNotes(
  reader: Reader,
  projectId: number,
  ids: readonly number[],
): Promise<Map<number, HitNote>> {
  const rows = ids.length === 0 ? [] : await reader.run(notesByIds, { projectId, ids: JSON.stringify(ids) })
  return new Map(rows.map((note) => [note.id, note]))
}

export interface PartKey {
  noteId: number
  position: number
}

/** `[[note, position], …]` as a table. */
function wanted(engine: Engine, pairs: string): RawBuilder<unknown> {
  return engine === 'sqlite'
    ? sql`(select value ->> 0 as note, value ->> 1 as position from json_each(${pairs})) as wanted cross join`
    : sql`(select (value ->> 0)::bigint as note, (value ->> 1)::int as position from json_array_elements(${pairs}::json))
        as wanted inner join`
}

export type HitObservation = StoredObservation & { note_id: number }

/** Of observations `content` and whatever else is asked for. */
function observationsAt(engine: Engine, pairs: string, content: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select o.note_id, o.position, ${cutColumn('o.category')} as category, ${cutColumn('o.context')} as context, ${content}
    from ${wanted(engine, pairs)} observations as o on o.note_id = wanted.note and o.position = wanted.position`
}

const wholeObservations = statement<{ pairs: string }, HitObservation>((_query, p, engine) =>
  observationsAt(engine, p('pairs'), sql`o.content, o.tags`),
)

/** Their content is whole, as permalinks are made of it: no more should be asked for than memory has room for. */
export function hitObservations(reader: Reader, keys: readonly PartKey[]): Promise<HitObservation[]> {
  return keys.length === 0 ? Promise.resolve([]) : reader.run(wholeObservations, { pairs: pairsOf(keys) })
}

export type ObservationText = Omit<HitObservation, 'tags'>

const beginningsOfObservations = statement<{ pairs: string; length: number }, ObservationText>((_query, p, engine) => {
  const length = engine === 'sqlite' ? sql`${p('length')}` : sql`${p('length')}::integer`
  return observationsAt(engine, p('pairs'), sql`substr(o.content, 1, ${length}) as content`)
})

/** The same with at most `length` characters of each content. */
export function observationTexts(reader: Reader, keys: readonly PartKey[], length: number): Promise<ObservationText[]> {
  return keys.length === 0
    ? Promise.resolve([])
    : reader.run(beginningsOfObservations, { pairs: pairsOf(keys), length })
}

export type HitRelation = Pick<
  RelationsTable,
  'from_id' | 'position' | 'relation_type' | 'to_name' | 'context' | 'anchor' | 'display'
> & {
  to_id: number | null
  to_title: string | null
  to_permalink: string | null
  to_path: string | null
  to_external_id: string | null
}

const relationsAt = statement<{ pairs: string }, HitRelation>(
  (_query, p, engine) => sql`
    select r.from_id, r.position, ${cutColumn('r.relation_type')} as relation_type, r.to_name,
      ${cutColumn('r.context')} as context, r.anchor, ${cutColumn('r.display')} as display, t.id as to_id, t.title as to_title,
      t.permalink as to_permalink, t.file_path as to_path, t.external_id as to_external_id
    from ${wanted(engine, p('pairs'))} relations as r on r.from_id = wanted.note and r.position = wanted.position
    left join notes as t on t.id = r.to_id`,
)

export function hitRelations(reader: Reader, keys: readonly PartKey[]): Promise<HitRelation[]> {
  return keys.length === 0 ? Promise.resolve([]) : reader.run(relationsAt, { pairs: pairsOf(keys) })
}

function pairsOf(keys: readonly PartKey[]): string {
  return JSON.stringify(keys.map(({ noteId, position }) => [noteId, position]))
}
