/** What observations and relations say now. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../tables.ts'

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
export const LONGEST_TEXT = 1_000
const LONGEST = sql.lit(LONGEST_TEXT)
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
