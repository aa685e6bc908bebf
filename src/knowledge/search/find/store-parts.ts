/** What the permalinks of parts are made from. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../tables.ts'

export interface NamedObservation {
  note_id: number
  position: number
  category: string
  content: string
}

const observations = statement<{ ids: string }, NamedObservation>(
  (_query, p, engine) => sql`
    select note_id, position, category, content from observations
    where note_id in ${numbersIn(engine, p('ids'))} order by note_id, position`,
)

export function namedObservations(reader: Reader, noteIds: readonly number[]): Promise<NamedObservation[]> {
  return reader.run(observations, { ids: JSON.stringify(noteIds) })
}

export interface NamedRelation {
  note_id: number
  position: number
  relation_type: string
  to_name: string
  /** Null while no note has the name. */
  to_path: string | null
  to_permalink: string | null
}

// As long as it is shown.
const relations = statement<{ ids: string }, NamedRelation>(
  (_query, p, engine) => sql`
    select r.from_id as note_id, r.position, substr(r.relation_type, 1, 2000) as relation_type, r.to_name,
      t.file_path as to_path, t.permalink as to_permalink
    from relations r left join notes t on t.id = r.to_id
    where r.from_id in ${numbersIn(engine, p('ids'))} and r.is_repeat = 0 order by r.from_id, r.position`,
)

/** Without those that say what an earlier one says. */
export function namedRelations(reader: Reader, noteIds: readonly number[]): Promise<NamedRelation[]> {
  return reader.run(relations, { ids: JSON.stringify(noteIds) })
}
