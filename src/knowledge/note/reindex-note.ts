import type { Transaction } from '../../platform/storage/database.ts'
import { bindForwardReferences, replaceRelations } from '../link/bind-links.ts'
import { namesOf, replaceNames } from '../link/names.ts'
import { replaceSearchRows } from '../search/store-search-rows.ts'
import { splitText } from '../text/frontmatter.ts'
import { aliasesOf, tagsOf } from '../text/note-metadata.ts'
import { parseBody } from '../text/parse-body.ts'
import type { Project } from './note.ts'
import { findNoteById } from './store-notes.ts'
import { replaceObservations } from './store-observations.ts'

/** Reads everything that is derived from the text of a note out of it anew. The note itself stays as it is. */
export async function reindexNote(tx: Transaction, project: Project, noteId: number): Promise<void> {
  const found = await findNoteById(tx, noteId)
  if (found === undefined || found.project_id !== project.id) return
  const { content, ...note } = found
  const { body } = splitText(content)
  const parsed = parseBody(body)
  const metadata = JSON.parse(note.metadata)
  const aliases = aliasesOf(metadata)
  await replaceObservations(tx, note.id, parsed.observations)
  await replaceNames(tx, project, null, { note, aliases })
  await replaceRelations(tx, project, note, parsed.links, { isNew: false })
  await bindForwardReferences(tx, project, note, namesOf(note, aliases))
  await replaceSearchRows(tx, project, note, { body, parsed, tags: tagsOf(metadata) }, false)
}
