import { sql } from 'kysely'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { incomingOf, incomingQuery, outgoingOf, outgoingQuery, type ViewRow } from '../link/store-relations.ts'
import '../tables.ts'
import type { NoteWithContent, Project } from './note.ts'
import { type NoteParts, noteParts } from './note-document.ts'
import { findNote } from './store-notes.ts'
import { type StoredObservation, toObservation } from './store-observations.ts'

export interface WholeNote {
  note: NoteWithContent
  parts: NoteParts
}

interface WholeRow extends NoteWithContent {
  observations: StoredObservation[]
  outgoing: ViewRow[]
  incoming: ViewRow[]
}

// PostgreSQL is far away: one statement instead of five and a transaction around them.
const wholeRow = statement<{ projectId: string; externalId: string }, WholeRow>(
  (_query, p) => sql`
    select notes.*, note_contents.content,
      (select coalesce(json_agg(o order by o.position), '[]') from (
        select position, category, content, context, tags from observations where note_id = notes.id
      ) as o) as observations,
      (select coalesce(json_agg(v order by v.position), '[]') from (${outgoingQuery(sql.ref('notes.id'))}) as v) as outgoing,
      (select coalesce(json_agg(v), '[]') from (${incomingQuery('postgres', sql.ref('notes.id'))}) as v) as incoming
    from notes
      join projects on projects.id = notes.project_id
      join note_contents on note_contents.note_id = notes.id
    where notes.external_id = ${p('externalId')} and projects.external_id = ${p('projectId')} and projects.deleted_at is null`,
)

/** A note and everything that is shown of it, as of one moment. */
export function findWholeNote(db: Database, project: Project, externalId: string): Promise<WholeNote | undefined> {
  return db.read(async (snapshot) => {
    const note = await findNote(snapshot, project.id, externalId)
    return note && { note, parts: await noteParts(snapshot, note) }
  })
}

/** The same on PostgreSQL, by the id of the project; none also where there is no such project. */
export async function findWholeNoteIn(
  reader: Reader,
  projectId: string,
  externalId: string,
): Promise<WholeNote | undefined> {
  const [row] = await reader.run(wholeRow, { projectId, externalId })
  if (row === undefined) return undefined
  const { observations, outgoing, incoming, ...note } = row
  const parts = {
    observations: observations.map(toObservation),
    outgoing: outgoingOf(note, outgoing),
    incoming: incomingOf(note, incoming),
  }
  return { note, parts }
}
