import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import { RELATIONS_AT_ONCE } from './store-relations.ts'

export interface IncomingLink {
  from_id: number
  position: number
  to_name: string
  anchor: string | null
  source_path: string
}

const COLUMNS = sql`r.from_id, r.position, r.to_name, r.anchor, n.file_path as source_path`
const NEXT = sql`order by from_id, position limit ${sql.lit(RELATIONS_AT_ONCE)}`

const ofNextNotes = statement<{ noteId: number; after: number }, IncomingLink>(
  (_query, p) => sql`
    select ${COLUMNS} from (
      select from_id, position, to_name, anchor from relations
      where to_id = ${p('noteId')} and from_id > ${p('after')} and from_id <> ${p('noteId')} ${NEXT}
    ) r join notes n on n.id = r.from_id
    order by r.from_id, r.position`,
)

const ofSameNote = statement<{ noteId: number; fromId: number; after: number }, IncomingLink>(
  (_query, p) => sql`
    select ${COLUMNS} from (
      select from_id, position, to_name, anchor from relations
      where to_id = ${p('noteId')} and from_id = ${p('fromId')} and position > ${p('after')} ${NEXT}
    ) r join notes n on n.id = r.from_id
    order by r.position`,
)

/** All links of other notes to the note, repeated ones included, some at a time; those of one note come one after the other. */
export async function* linksTo(reader: Reader, noteId: number): AsyncGenerator<IncomingLink[]> {
  const isFull = (links: readonly IncomingLink[]) => links.length === RELATIONS_AT_ONCE
  for (let fromId = 0; ; ) {
    let links = await reader.run(ofNextNotes, { noteId, after: fromId })
    if (links.length > 0) yield links
    if (!isFull(links)) return
    fromId = (links.at(-1) as IncomingLink).from_id
    // A single one may have a hundred thousand.
    while (isFull(links)) {
      const after = (links.at(-1) as IncomingLink).position
      links = await reader.run(ofSameNote, { noteId, fromId, after })
      if (links.length > 0) yield links
    }
  }
}
