/** Past versions of notes. The current one is the note itself. */
import { type Selectable, sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Named } from '../link/names.ts'
import type { NoteWithContent } from '../note/note.ts'
import type { NoteRevisionsTable } from '../tables.ts'
import { applyDelta, deltaOf } from './delta.ts'

/** A version of a note, without its text. */
export type Revision = Omit<Selectable<NoteRevisionsTable>, 'kept_head' | 'kept_tail' | 'content'>

type RevisionRow = Selectable<NoteRevisionsTable>

// At most so many differences are put together to read an old version.
const WHOLE_EVERY = 32
const LAST_VERSION = 2_147_483_647

const REVISION_COLUMNS = [
  'note_id',
  'version',
  'title',
  'note_type',
  'permalink',
  'file_path',
  'checksum',
  'size',
  'change',
  'written_at',
  'written_by',
] as const

const insertRevision = statement<RevisionRow>((query, p) =>
  query.insertInto('note_revisions').values({
    note_id: p('note_id'),
    version: p('version'),
    title: p('title'),
    note_type: p('note_type'),
    permalink: p('permalink'),
    file_path: p('file_path'),
    checksum: p('checksum'),
    size: p('size'),
    change: p('change'),
    written_at: p('written_at'),
    written_by: p('written_by'),
    kept_head: p('kept_head'),
    kept_tail: p('kept_tail'),
    content: p('content'),
  }),
)

/**
 * Keeps the version that is about to be replaced, as a difference from the next text where that is much shorter. Without one it is kept
 * whole, as it must be where the next version does not follow at once: the one left out may be that of every so many.
 */
export async function keepRevision(
  tx: Transaction,
  before: NoteWithContent,
  nextContent: string | null,
): Promise<void> {
  const isWhole = nextContent === null || before.version % WHOLE_EVERY === 0
  const delta = isWhole ? null : deltaOf(before.content, nextContent)
  await tx.send(insertRevision, {
    note_id: before.id,
    version: before.version,
    title: before.title,
    note_type: before.note_type,
    permalink: before.permalink,
    file_path: before.file_path,
    checksum: before.checksum,
    size: before.size,
    change: before.last_change,
    written_at: before.written_at,
    written_by: before.written_by,
    kept_head: delta === null ? null : delta.head,
    kept_tail: delta === null ? null : delta.tail,
    content: delta === null ? before.content : delta.middle,
  })
}

/** The version that the note itself is. */
export function currentRevision(note: NoteWithContent): Revision {
  const { id, version, title, note_type, permalink, file_path, checksum, size, last_change, written_at, written_by } =
    note
  return {
    note_id: id,
    version,
    title,
    note_type,
    permalink,
    file_path,
    checksum,
    size,
    change: last_change,
    written_at,
    written_by,
  }
}

/** Past versions below `before`, newest first. */
export function listRevisions(reader: Reader, noteId: number, before: number, limit: number): Promise<Revision[]> {
  return reader.query
    .selectFrom('note_revisions')
    .select(REVISION_COLUMNS)
    .where('note_id', '=', noteId)
    .where('version', '<', before)
    .orderBy('version', 'desc')
    .limit(limit)
    .execute()
}

const pastNames = statement<{ noteId: number }, Named>((query, p) =>
  query
    .selectFrom('note_revisions')
    .select(['title', 'permalink', 'file_path'])
    .distinct()
    .where('note_id', '=', p('noteId')),
)

/** What the note was called in its past versions, each once. */
export function listPastNames(reader: Reader, noteId: number): Promise<Named[]> {
  return reader.run(pastNames, { noteId })
}

/** A past version with its text; undefined when there is none. `note` is the current one, which differences end at. */
export async function findRevision(
  reader: Reader,
  note: Pick<NoteWithContent, 'id' | 'content'>,
  version: number,
): Promise<(Revision & { content: string }) | undefined> {
  // Nothing behind the first whole text is needed: each may be megabytes long.
  const whole = reader.query
    .selectFrom('note_revisions')
    .select('version')
    .where('note_id', '=', note.id)
    .where('version', '>=', version)
    .where('kept_head', 'is', null)
    .orderBy('version')
    .limit(1)
  const rows = await reader.query
    .selectFrom('note_revisions')
    .selectAll()
    .where('note_id', '=', note.id)
    .where('version', '>=', version)
    .where('version', '<=', (eb) => eb.fn.coalesce(whole, sql.lit(LAST_VERSION)))
    .orderBy('version')
    .limit(WHOLE_EVERY)
    .execute()
  const [wanted] = rows
  if (wanted?.version !== version) return undefined
  const content = rows.reduceRight((newer, row) => textOf(row, newer), note.content)
  const { kept_head: _head, kept_tail: _tail, ...revision } = wanted
  return { ...revision, content }
}

// Each may have two million characters, and SQLite takes all that one statement deletes away in one go: of those one at a time.
const DELETED_AT_ONCE = 20
const DELETED_BYTES = 2_000_000

const deleteSome = statement<{ noteIds: string }>(
  (_query, p) => sql`
    delete from note_revisions where (note_id, version) in (
      select note_id, version from (
        select note_id, version, row_number() over place as number, sum(size) over place as bytes from (
          select note_id, version, octet_length(content) as size from note_revisions where note_id in ${numbersIn('sqlite', p('noteIds'))}
          order by note_id, version limit ${sql.lit(DELETED_AT_ONCE)})
        window place as (order by note_id, version))
      where number = 1 or bytes <= ${sql.lit(DELETED_BYTES)})`,
)

export async function deleteRevisions(tx: Transaction, noteIds: readonly number[]): Promise<void> {
  if (noteIds.length === 0) return
  if (tx.engine === 'sqlite') {
    const ids = JSON.stringify(noteIds)
    while ((await tx.change(deleteSome, { noteIds: ids })) > 0);
  } else await tx.query.deleteFrom('note_revisions').where('note_id', 'in', noteIds).execute()
}

function textOf({ kept_head: head, kept_tail: tail, content }: RevisionRow, newer: string): string {
  return head === null || tail === null ? content : applyDelta(newer, { head, tail, middle: content })
}
