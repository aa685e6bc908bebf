import { type Static, Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Note } from '../note/note.ts'
import { NotePath } from '../note/schema-notes.ts'
import type { RecordedChange } from './store-changes.ts'
import type { Revision } from './store-revisions.ts'
import type { TrashedNote, TrashPosition } from './store-trash.ts'

const nullableText = Type.Union([Type.String(), Type.Null()])
const time = Type.String({ format: 'date-time' })
const change = Type.String({ description: 'created, updated, moved, restored or deleted' })
const version = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the answer before.', documented: { minLength: 1 } }),
  ),
})

export const DEFAULT_LIMIT = 20

const revisionFields = {
  version: Type.Integer(),
  is_current: Type.Boolean(),
  change,
  title: Type.String(),
  note_type: Type.String(),
  permalink: nullableText,
  file_path: Type.String(),
  checksum: Type.String(),
  size: Type.Integer({ description: 'Length of the text in UTF-16 units.' }),
  written_at: time,
  written_by: nullableText,
}

const nextCursor = Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' })

export const RevisionsDocument = Type.Object({
  revisions: Type.Array(Type.Object(revisionFields)),
  next_cursor: nextCursor,
})

export const RevisionPath = Type.Object({
  ...NotePath.properties,
  version: Type.String({ description: 'Number of the version, from 1.' }),
})

export const RevisionDocument = Type.Object({ ...revisionFields, content: Type.String() })

export const DiffQuery = Type.Object({
  from: Type.Optional(Type.Integer({ minimum: 1, description: 'The version before `to` by default.' })),
  to: Type.Optional(Type.Integer({ minimum: 1, description: 'The current version by default.' })),
})

export const DiffDocument = Type.Object({
  from: Type.Integer(),
  to: Type.Integer(),
  diff: Type.String({ description: 'In the unified format; empty when the texts are equal.' }),
  lines_added: Type.Integer(),
  lines_removed: Type.Integer(),
})

export const RestoreBody = Type.Object({ version })

export const TrashDocument = Type.Object({
  entities: Type.Array(
    Type.Object({
      external_id: Type.String(),
      entity_id: Type.Integer({ description: 'Tells several apart that had the same id.' }),
      title: Type.String(),
      note_type: Type.String(),
      permalink: nullableText,
      file_path: Type.String(),
      version: Type.Integer(),
      size: Type.Integer(),
      deleted_at: time,
      deleted_by: nullableText,
    }),
  ),
  next_cursor: nextCursor,
})

const whichOne = (without: string) =>
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `Which one of several that had this id; ${without}.`,
  })

export const TrashRestoreBody = Type.Union([
  Type.Object({
    entity_id: Type.Optional(Type.Union([whichOne('the last deleted without it'), Type.Null()])),
    destination_path: Type.Optional(
      Type.Union([Type.String({ description: 'Another path; its old one without it.' }), Type.Null()]),
    ),
  }),
  Type.Null(),
])

export const TrashPurgeQuery = Type.Object({ entity_id: Type.Optional(whichOne('all of them without it')) })

export const ChangesQuery = Type.Object({
  since: Type.Optional(
    Type.String({
      description: '`cursor` of the answer before; all notes without it; `now` for what changes from now on.',
      documented: { minLength: 1 },
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      default: 0,
      description: 'Seconds to wait for a change when there is none.',
    }),
  ),
})

export const ChangesDocument = Type.Object({
  changes: Type.Array(
    Type.Object({
      external_id: Type.String(),
      change,
      version: Type.Integer(),
      file_path: Type.String(),
      changed_at: time,
      changed_by: nullableText,
    }),
  ),
  cursor: Type.String({ description: 'Where the next question begins, also when nothing changed.' }),
  has_more: Type.Boolean(),
})

export function revisionDocument(
  revision: Revision,
  current: number,
): Static<typeof RevisionsDocument>['revisions'][number] {
  const { note_id: _id, written_at: writtenAt, ...fields } = revision
  return { ...fields, is_current: revision.version === current, written_at: toRfc3339(writtenAt) }
}

export function trashedDocument(trashed: TrashedNote): Static<typeof TrashDocument>['entities'][number] {
  const { title, note_type, permalink, version, size } = JSON.parse(trashed.note) as Note
  return {
    external_id: trashed.external_id,
    entity_id: trashed.note_id,
    title,
    note_type,
    permalink,
    file_path: trashed.file_path,
    version,
    size,
    deleted_at: toRfc3339(trashed.deleted_at),
    deleted_by: trashed.deleted_by,
  }
}

export function changeDocument(recorded: RecordedChange): Static<typeof ChangesDocument>['changes'][number] {
  const { external_id, change, version, file_path, changed_at: changedAt, changed_by } = recorded
  return { external_id, change, version, file_path, changed_at: toRfc3339(changedAt), changed_by }
}

export function encodeNumbers(...numbers: number[]): string {
  return Buffer.from(numbers.join(':')).toString('base64url')
}

/** A cursor of ours that holds so many numbers. */
export function decodeNumbers(cursor: string, count: number): number[] {
  const text = cursor.length > 100 ? '' : Buffer.from(cursor, 'base64url').toString('latin1')
  const numbers = /^\d{1,16}(?::\d{1,16})*$/.test(text) ? text.split(':').map(Number) : []
  if (numbers.length === count && numbers.every(Number.isSafeInteger)) return numbers
  throw new AppError(
    'invalid_argument',
    'The cursor is not one of this list: take it from the answer before, unchanged',
  )
}

export function trashPosition(cursor: string): TrashPosition {
  const [deletedAt, noteId] = decodeNumbers(cursor, 2) as [number, number]
  return { deletedAt, noteId }
}
