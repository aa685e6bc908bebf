import type { Transaction } from '../../platform/storage/database.ts'
import { bindForwardReferences, replaceRelations } from '../link/bind-links.ts'
import { addNames } from '../link/names.ts'
import { replaceSearchRows } from '../search/index/store-search-rows.ts'
import { readBody } from '../text/body/parse-body.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { aliasesOf } from '../text/frontmatter/note-metadata.ts'
import type { Project } from './note.ts'
import { findNoteById } from './store-notes.ts'
import { replaceObservations } from './store-observations.ts'

/** Reads everything that is derived from the text of a note out of it anew. The note itself stays as it is. */
export async function reindexNote(tx: Transaction, project: Project, noteId: number): Promise<void> {
  const found = await findNoteById(tx, noteId)
  if (found === undefined || found.project_id !== project.id) return
  const { content, ...note } = found
  const { body } = splitText(content)
  const parsed = await readBody(body, () => tx.breathe())
  const metadata = JSON.parse(note.metadata)
  await replaceObservations(tx, note.id, parsed.observations)
  const names = await addNames(tx, project, { note, aliases: aliasesOf(metadata) })
  await replaceRelations(tx, project, note, parsed.links, { isNew: false })
  await bindForwardReferences(tx, project, note, names)
  await replaceSearchRows(tx, note, { body, parsed, metadata }, false)
}
