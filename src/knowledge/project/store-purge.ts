import { sql } from 'kysely'
import { forgetAnswersAbout } from '../../platform/idempotency/idempotency.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { deleteRevisions } from '../history/store-revisions.ts'
import { deleteTrash, PURGED_AT_ONCE, textSize } from '../history/store-trash.ts'
import type { Note } from '../note/note.ts'
import { deleteNote } from '../note/store-notes.ts'
import { together } from '../note/together.ts'
import { dropSearchRows } from '../search/index/store-search-rows.ts'

/** Some notes of the project, whichever; none when there are none left. */
export async function someNotes(reader: Reader, projectId: number, limit: number): Promise<PurgedNote[]> {
  const rows = await reader.query
    .selectFrom('notes')
    .select(['id', 'external_id', 'size'])
    .where('project_id', '=', projectId)
    .limit(limit)
    .execute()
  const [some = []] = together(rows, PURGED_AT_ONCE)
  return some
}

type PurgedNote = Pick<Note, 'id' | 'external_id'>

/** Everything there is of these notes, as if they had never been; links of other projects to them are open again. */
export async function removeNoteRows(tx: Transaction, projectId: number, notes: readonly PurgedNote[]): Promise<void> {
  if (notes.length === 0) return
  const noteIds = notes.map(({ id }) => id)
  await tx.query
    .updateTable('relations')
    .set({ to_id: null, is_repeat: 0 })
    .where('to_id', 'in', noteIds)
    .where('project_id', '<>', projectId)
    .execute()
  for (const noteId of noteIds) await dropSearchRows(tx, noteId)
  await deleteRevisions(tx, noteIds)
  // One by one, in turns with others.
  if (tx.engine === 'sqlite') for (const noteId of noteIds) await deleteNote(tx, noteId)
  else await tx.query.deleteFrom('notes').where('id', 'in', noteIds).execute()
  await forgetAnswersAbout(
    tx,
    notes.map(({ external_id }) => external_id),
  )
}

/** Names of notes that are gone. How many. */
export async function removeNames(tx: Transaction, projectId: number, limit: number): Promise<number> {
  const key = sql.join(['name_key', 'kind', 'note_id', 'value'].map((column) => sql.ref(column)))
  const { numAffectedRows } = await sql`
    delete from note_names
    where project_id = ${projectId}
      and (${key}) in (select ${key} from note_names where project_id = ${projectId} limit ${limit})`.execute(tx.query)
  return Number(numAffectedRows ?? 0)
}

/** Some of the notes that were deleted before the project was. How many. */
export async function removeTrash(tx: Transaction, projectId: number, limit: number): Promise<number> {
  const found = await tx.query
    .selectFrom('note_trash')
    .select(['note_id', 'external_id', textSize()])
    .where('project_id', '=', projectId)
    .limit(limit)
    .execute()
  const [rows = []] = together(found, PURGED_AT_ONCE)
  if (rows.length === 0) return 0
  const noteIds = rows.map(({ note_id }) => note_id)
  await deleteRevisions(tx, noteIds)
  await deleteTrash(tx, noteIds)
  await forgetAnswersAbout(
    tx,
    rows.map(({ external_id }) => external_id),
  )
  return rows.length
}

export async function removeChanges(tx: Transaction, projectId: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('note_changes')
    .where('seq', 'in', (eb) =>
      eb.selectFrom('note_changes').select('seq').where('project_id', '=', projectId).limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
