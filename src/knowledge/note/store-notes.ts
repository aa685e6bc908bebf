import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { deleteRelations } from '../link/store-relations.ts'
import '../tables.ts'
import { textsIn } from '../../platform/storage/json-list.ts'
import { fromListed } from '../../platform/storage/look-up.ts'
import type { NoteContentsTable } from '../tables.ts'
import type { Note, NoteWithContent } from './note.ts'
import { deleteObservations } from './store-observations.ts'

export type NewNote = Omit<Note, 'id'>

const COLUMNS = [
  'external_id',
  'project_id',
  'title',
  'note_type',
  'type_key',
  'permalink',
  'file_path',
  'metadata',
  'checksum',
  'size',
  'version',
  'last_change',
  'created_at',
  'updated_at',
  'written_at',
  'created_by',
  'written_by',
] as const satisfies readonly (keyof NewNote)[]

const insertRow = statement<NewNote>(
  (_query, p, engine) => sql`
    insert into notes (${sql.join(COLUMNS.map((column) => sql.ref(column)))})
    values (${sql.join(COLUMNS.map((column) => sql.val(p(column))))})
    ${engine === 'postgres' ? sql`returning id` : sql``}`,
)

export async function insertNote(tx: Transaction, note: NewNote): Promise<Note> {
  return { ...note, id: await tx.insert(insertRow, note) }
}

/** For a note that comes back from the trash under the number it had. */
export async function insertNoteAgain(tx: Transaction, note: Note): Promise<void> {
  await tx.query.insertInto('notes').values(note).execute()
}

// Not the references: to set one, even to what it is, makes SQLite check it and keep copies of the pages meanwhile.
const CHANGING = COLUMNS.filter((column) => !['external_id', 'project_id', 'created_by'].includes(column))
// An index whose column is set is written anew, whatever the value is; most changes leave these as they are.
const SELDOM = ['file_path', 'permalink', 'type_key', 'created_at'] as const satisfies readonly (keyof Note)[]
const OFTEN = CHANGING.filter((column) => !(SELDOM as readonly string[]).includes(column))

function updateOf(columns: readonly (keyof Note)[]) {
  return statement<Note>((query, p) =>
    query
      .updateTable('notes')
      .set(Object.fromEntries(columns.map((column) => [column, p(column)])))
      .where('id', '=', p('id')),
  )
}

const updateAll = updateOf(CHANGING)
const updateOften = updateOf(OFTEN)

export function updateNote(tx: Transaction, before: Note, note: Note): Promise<unknown> {
  return tx.send(SELDOM.every((column) => note[column] === before[column]) ? updateOften : updateAll, note)
}

const insertContentRow = statement<NoteContentsTable>((query, p) =>
  query.insertInto('note_contents').values({ note_id: p('note_id'), content: p('content') }),
)

export function insertContent(tx: Transaction, noteId: number, content: string): Promise<unknown> {
  return tx.send(insertContentRow, { note_id: noteId, content })
}

const updateContentRow = statement<NoteContentsTable>((query, p) =>
  query
    .updateTable('note_contents')
    .set({ content: p('content') })
    .where('note_id', '=', p('note_id')),
)

export function updateContent(tx: Transaction, noteId: number, content: string): Promise<unknown> {
  return tx.send(updateContentRow, { note_id: noteId, content })
}

const deleteRow = statement<{ id: number }>((query, p) => query.deleteFrom('notes').where('id', '=', p('id')))

/** The links and the observations of a note, by and by. */
async function deleteParts(tx: Transaction, id: number): Promise<void> {
  await deleteRelations(tx, id, 0)
  await deleteObservations(tx, id, 0)
}

/** With its text, its observations, its relations and its names. */
export async function deleteNote(tx: Transaction, id: number): Promise<void> {
  // Before, and by and by: SQLite would take hundreds of thousands along in one go.
  if (tx.engine === 'sqlite') await deleteParts(tx, id)
  await tx.send(deleteRow, { id })
}

const byExternalId = statement<{ projectId: number; externalId: string }, NoteWithContent>((query, p) =>
  query
    .selectFrom('notes')
    .innerJoin('note_contents', 'note_contents.note_id', 'notes.id')
    .selectAll('notes')
    .select('note_contents.content')
    .where('notes.external_id', '=', p('externalId'))
    .where('notes.project_id', '=', p('projectId')),
)

export async function findNote(
  reader: Reader,
  projectId: number,
  externalId: string,
): Promise<NoteWithContent | undefined> {
  const [note] = await reader.run(byExternalId, { projectId, externalId })
  return note
}

const byId = statement<{ id: number }, NoteWithContent>((query, p) =>
  query
    .selectFrom('notes')
    .innerJoin('note_contents', 'note_contents.note_id', 'notes.id')
    .selectAll('notes')
    .select('note_contents.content')
    .where('notes.id', '=', p('id')),
)

export async function findNoteById(reader: Reader, id: number): Promise<NoteWithContent | undefined> {
  const [note] = await reader.run(byId, { id })
  return note
}

/** Whether any project has it. */
export async function isExternalIdTaken(reader: Reader, externalId: string): Promise<boolean> {
  const row = await reader.query
    .selectFrom('notes')
    .select('id')
    .where('external_id', '=', externalId)
    .executeTakeFirst()
  return row !== undefined
}

const takenPermalinks = statement<{ projectId: number; permalinks: string; ownId: number }, { permalink: string }>(
  (_query, p, engine) => sql`
    select permalink ${fromListed(engine, {
      table: 'notes',
      column: 'permalink',
      list: textsIn(engine, p('permalinks')),
      where: sql`project_id = ${p('projectId')} and id <> ${p('ownId')}`,
    })}`,
)

/** Which of them other notes have. */
export async function permalinksTaken(
  reader: Reader,
  projectId: number,
  permalinks: readonly string[],
  ownId: number,
): Promise<Set<string>> {
  const rows = await reader.run(takenPermalinks, { projectId, permalinks: JSON.stringify(permalinks), ownId })
  return new Set(rows.map(({ permalink }) => permalink))
}
