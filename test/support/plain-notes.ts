import type { Note, NoteWithContent, Project } from '../../src/knowledge/note/note.ts'
import '../../src/knowledge/tables.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'

/** A project and notes as bare rows, for suites of a store that needs nothing else of them. */
export async function addProject(db: Database, name: string): Promise<Project> {
  const externalId = newId()
  const { id } = await db.write((tx) =>
    tx.query
      .insertInto('projects')
      .values({
        external_id: externalId,
        name,
        name_folded: name,
        permalink: name,
        path: name,
        is_default: 0,
        created_at: 1,
        modified_at: 1,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return { id, externalId, name, permalink: name, formerPermalinks: '' }
}

export function plainNote(project: Project, id: number, changes: Partial<NoteWithContent> = {}): NoteWithContent {
  const content = changes.content ?? ''
  return {
    id,
    external_id: newId(),
    project_id: project.id,
    title: `Note ${id}`,
    note_type: 'note',
    type_key: 'note',
    permalink: `note-${id}`,
    file_path: `Note ${id}.md`,
    metadata: '{}',
    checksum: `checksum of ${content.length}`,
    size: content.length,
    version: 1,
    last_change: 'created',
    created_at: 1_000,
    updated_at: 1_000,
    written_at: 1_000,
    created_by: null,
    written_by: null,
    ...changes,
    content,
  }
}

export async function insertPlainNote(tx: Transaction, { content, ...note }: NoteWithContent): Promise<Note> {
  await tx.query.insertInto('notes').values(note).execute()
  await tx.query.insertInto('note_contents').values({ note_id: note.id, content }).execute()
  return note
}
