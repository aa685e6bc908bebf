import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'

export interface IncomingLink {
  from_id: number
  to_name: string
  anchor: string | null
  source_path: string
}

const ofNextNotes = statement<{ noteId: number; after: number; limit: number }, IncomingLink>(
  (_query, p) => sql`
    select r.from_id, r.to_name, r.anchor, n.file_path as source_path
    from (
      select distinct from_id from relations
      where to_id = ${p('noteId')} and from_id > ${p('after')} and from_id <> ${p('noteId')}
      order by from_id limit ${p('limit')}
    ) page
    join relations r on r.to_id = ${p('noteId')} and r.from_id = page.from_id
    join notes n on n.id = page.from_id
    order by r.from_id, r.position`,
)

/** All links to the note of the next other notes that have some, repeated ones included. */
export function linksOfNextNotes(
  reader: Reader,
  noteId: number,
  after: number,
  limit: number,
): Promise<IncomingLink[]> {
  return reader.run(ofNextNotes, { noteId, after, limit })
}
