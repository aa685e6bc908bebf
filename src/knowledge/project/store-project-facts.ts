import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Note, NoteRef } from '../note/note.ts'
import { cutColumn } from '../note/store-shown.ts'

export type FactNote = NoteRef & Pick<Note, 'type_key' | 'created_at' | 'updated_at' | 'size'>

/** Where a slice of notes ends. */
export type SliceEnd = Pick<FactNote, 'updated_at' | 'id'>

/** The next notes in the order of their last change, newest first. */
export async function noteSlice(
  reader: Reader,
  projectId: number,
  after: SliceEnd | null,
  limit: number,
): Promise<FactNote[]> {
  let query = reader.query
    .selectFrom('notes')
    .select(['id', 'external_id', 'title', 'permalink', 'file_path', 'type_key', 'created_at', 'updated_at', 'size'])
    .where('project_id', '=', projectId)
  if (after !== null) query = query.where(sql<boolean>`(updated_at, id) < (${after.updated_at}, ${after.id})`)
  return query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(unplanned(reader.engine, limit)).execute()
}

interface Ids {
  /** A JSON array of numbers. */
  ids: string
}

export const observationFacts = statement<Ids, { note_id: number; category: string; amount: number }>(
  (query, p, engine) =>
    query
      .selectFrom('observations')
      .select(['note_id', cutColumn('category').as('category'), sql<number>`count(*)`.as('amount')])
      .where('note_id', 'in', numbersIn(engine, p('ids')))
      .groupBy(['note_id', 'category']),
)

export interface OutgoingFact {
  from_id: number
  relation_type: string
  amount: number
  unresolved: number
}

export const outgoingFacts = statement<Ids, OutgoingFact>((query, p, engine) =>
  query
    .selectFrom('relations')
    .select([
      'from_id',
      cutColumn('relation_type').as('relation_type'),
      sql<number>`count(*)`.as('amount'),
      sql<number>`sum(case when to_id is null then 1 else 0 end)`.as('unresolved'),
    ])
    .where('from_id', 'in', numbersIn(engine, p('ids')))
    .where('is_repeat', '=', 0)
    .groupBy(['from_id', 'relation_type']),
)

export const incomingFacts = statement<Ids, { to_id: number; amount: number }>((query, p, engine) =>
  query
    .selectFrom('relations')
    .select([sql<number>`to_id`.as('to_id'), sql<number>`count(*)`.as('amount')])
    .where('to_id', 'in', numbersIn(engine, p('ids')))
    .where('is_repeat', '=', 0)
    .groupBy('to_id'),
)

// No index has the numbers of a project in their order: so many of all are looked at by one statement.
const LOOKED_AT = 5_000

const inWindow = statement<{ projectId: number; after: number; upTo: number; limit: number }, { id: number }>(
  (_query, p) => sql`
    select id from notes where id > ${p('after')} and id <= ${p('upTo')} and +project_id = ${p('projectId')}
    order by id limit ${p('limit')}`,
)

/** The next notes of the project by their numbers, which never change: a place that a job can go on from. None at the end only. */
export async function notesAfter(reader: Reader, projectId: number, after: number, limit: number): Promise<number[]> {
  const newest = await reader.query.selectFrom('notes').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  for (let from = after; from < (newest?.id ?? 0); from += LOOKED_AT) {
    const rows = await reader.run(inWindow, { projectId, after: from, upTo: from + LOOKED_AT, limit })
    if (rows.length > 0) return rows.map(({ id }) => id)
  }
  return []
}
