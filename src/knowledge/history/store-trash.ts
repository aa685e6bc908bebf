/** Deleted notes, as they were, until they are restored or thirty days old. */
import { type Selectable, sql } from 'kysely'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Note, NoteWithContent } from '../note/note.ts'
import { together } from '../note/together.ts'
import type { NoteTrashTable } from '../tables.ts'

const insertTrash = statement<NoteTrashTable>((query, p) =>
  query.insertInto('note_trash').values({
    note_id: p('note_id'),
    external_id: p('external_id'),
    project_id: p('project_id'),
    title: p('title'),
    file_path: p('file_path'),
    note: p('note'),
    content: p('content'),
    deleted_at: p('deleted_at'),
    deleted_by: p('deleted_by'),
  }),
)

/** Puts a note that is being deleted into the trash. Its past versions stay where they are. */
export async function trashNote(
  tx: Transaction,
  note: NoteWithContent,
  principal: Pick<Principal, 'userId'>,
  now: Micros,
): Promise<void> {
  const { content, ...row } = note
  await tx.send(insertTrash, {
    note_id: row.id,
    external_id: row.external_id,
    project_id: row.project_id,
    title: row.title,
    file_path: row.file_path,
    note: JSON.stringify(row),
    content,
    deleted_at: now,
    deleted_by: principal.userId,
  })
}

/** A deleted note in a list, without its text. */
export type TrashedNote = Omit<Selectable<NoteTrashTable>, 'content'>

export interface TrashPosition {
  deletedAt: Micros
  noteId: number
}

const TRASH_COLUMNS = [
  'note_id',
  'external_id',
  'project_id',
  'title',
  'file_path',
  'note',
  'deleted_at',
  'deleted_by',
] as const

/** Last deleted first. */
export function listTrash(
  reader: Reader,
  projectId: number,
  limit: number,
  after: TrashPosition | null,
): Promise<TrashedNote[]> {
  const query = reader.query
    .selectFrom('note_trash')
    .select(TRASH_COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('deleted_at', 'desc')
    .orderBy('note_id', 'desc')
    .limit(unplanned(reader.engine, limit))
  if (after === null) return query.execute()
  return query
    .where((eb) => eb(eb.refTuple('deleted_at', 'note_id'), '<', eb.tuple(after.deletedAt, after.noteId)))
    .execute()
}

/** The note as it was; of several with the id, which happens when it was made anew, the one with the number or the last one deleted. */
export async function findTrashed(
  reader: Reader,
  projectId: number,
  externalId: string,
  number: number | null = null,
): Promise<NoteWithContent | undefined> {
  const query = reader.query
    .selectFrom('note_trash')
    .select(['note', 'content'])
    .where('project_id', '=', projectId)
    .where('external_id', '=', externalId)
    .orderBy('deleted_at', 'desc')
    .orderBy('note_id', 'desc')
    .limit(1)
  const row = await (number === null ? query : query.where('note_id', '=', number)).executeTakeFirst()
  return row === undefined ? undefined : { ...(JSON.parse(row.note) as Note), content: row.content }
}

/** Numbers of all deleted notes that had the id. */
export async function trashedNumbers(reader: Reader, projectId: number, externalId: string): Promise<number[]> {
  const rows = await reader.query
    .selectFrom('note_trash')
    .select('note_id')
    .where('project_id', '=', projectId)
    .where('external_id', '=', externalId)
    .execute()
  return rows.map(({ note_id }) => note_id)
}

// SQLite writes all that one transaction took away in one go: of long texts a few go at a time.
export const PURGED_AT_ONCE = 5_000_000

/** Takes some notes that were deleted before the time out of the trash, oldest first, and answers their numbers. None at the end only. */
export async function takeExpiredTrash(tx: Transaction, before: Micros, limit: number): Promise<number[]> {
  const expired = tx.query
    .selectFrom('note_trash')
    .select('note_id')
    .where('deleted_at', '<', before)
    .orderBy('deleted_at')
    .limit(limit)
  if (tx.engine === 'sqlite') {
    const [some = []] = together(await expired.select(textSize()).execute(), PURGED_AT_ONCE)
    const noteIds = some.map(({ note_id }) => note_id)
    await deleteTrash(tx, noteIds)
    return noteIds
  }
  const taken = await tx.query.deleteFrom('note_trash').where('note_id', 'in', expired).returning('note_id').execute()
  return taken.map(({ note_id }) => note_id)
}

/** What a text takes, without reading it. */
export function textSize() {
  return sql<number>`octet_length(content)`.as('size')
}

const deleteRow = statement<{ noteId: number }>((query, p) =>
  query.deleteFrom('note_trash').where('note_id', '=', p('noteId')),
)

/** Takes notes out of the trash; what becomes of their past versions is for the caller to say. How many were still there. */
export async function deleteTrash(tx: Transaction, noteIds: readonly number[]): Promise<number> {
  if (noteIds.length === 0) return 0
  if (tx.engine === 'sqlite') {
    // One by one, in turns with others.
    let gone = 0
    for (const noteId of noteIds) gone += await tx.change(deleteRow, { noteId })
    return gone
  }
  const gone = await tx.query.deleteFrom('note_trash').where('note_id', 'in', noteIds).returning('note_id').execute()
  return gone.length
}
