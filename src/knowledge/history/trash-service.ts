import { auditChange } from '../../platform/audit/audit-change.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { forgetAnswersAbout } from '../../platform/idempotency/idempotency.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { destinationOf } from '../move/destination.ts'
import { noteDocument } from '../note/note-document.ts'
import type { NotePlace } from '../note/note-service.ts'
import { refuseUnfit, storedState, withMetadata } from '../note/note-state.ts'
import { permalinkAfterMove } from '../note/permalink.ts'
import { claimPlace } from '../note/place.ts'
import type { EntityDocument } from '../note/schema-notes.ts'
import { isExternalIdTaken } from '../note/store-notes.ts'
import { createNote } from '../note/write-note.ts'
import { type Writer, writeIn } from '../note/write-transaction.ts'
import { requireProject } from '../project/look-up.ts'
import { deleteRevisions, keepRevision } from './store-revisions.ts'
import {
  deleteTrash,
  findTrashed,
  listTrash,
  type TrashedNote,
  type TrashPosition,
  trashedNumbers,
} from './store-trash.ts'

export interface TrashPage {
  notes: TrashedNote[]
  next: TrashPosition | null
}

export interface RestoreWish {
  /** Its old one without it. */
  destinationPath?: string | null | undefined
  /** Which one of several that had the id; the last deleted without it. */
  number?: number | null | undefined
}

export class TrashService {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  async list(projectId: string, limit: number, after: TrashPosition | null): Promise<TrashPage> {
    const { db } = this.#deps
    const project = await requireProject(db, projectId)
    const found = await listTrash(db, project.id, limit + 1, after)
    const notes = found.slice(0, limit)
    const last = notes.at(-1)
    const hasMore = found.length > limit && last !== undefined
    return { notes, next: hasMore ? { deletedAt: last.deleted_at, noteId: last.note_id } : null }
  }

  /** Brings the note back with its id and its past, at its old path or another one. */
  restore(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    { destinationPath = null, number = null }: RestoreWish = {},
  ): Promise<EntityDocument> {
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const { project, settings } = context
      const externalId = parseBareId(noteId)
      const trashed = externalId === null ? undefined : await findTrashed(tx, project.id, externalId, number)
      if (externalId === null || trashed === undefined) throw notInTrash(noteId)
      if (await isExternalIdTaken(tx, externalId)) {
        throw new AppError('conflict', `A note with the id ${externalId} already exists: delete it first`)
      }
      const { content, ...row } = trashed
      const filePath = destinationPath === null ? row.file_path : destinationOf(destinationPath, row.file_path)
      const permalink = permalinkAfterMove(project, settings, row, filePath)
      const claimed = await claimPlace(tx, project, { filePath, permalink })
      const state = withMetadata(await storedState(tx, content, filePath), { permalink: claimed })
      refuseUnfit(state)
      // Its time may be over just now.
      if ((await deleteTrash(tx, [row.id])) === 0) throw notInTrash(noteId)
      await keepRevision(tx, trashed, null)
      const { note, parts } = await createNote(tx, context, externalId, state, { again: row })
      return noteDocument(tx, note, parts)
    })
  }

  /** Forever. `number`: only this one of those with the id. False when there is none in the trash. */
  purge(writer: Writer, { projectId, noteId }: NotePlace, number: number | null = null): Promise<boolean> {
    return writeIn(this.#deps, writer, projectId, async (tx, { project, principal, client }) => {
      const externalId = parseBareId(noteId)
      const all = externalId === null ? [] : await trashedNumbers(tx, project.id, externalId)
      const numbers = number === null ? all : all.filter((one) => one === number)
      if (externalId === null || numbers.length === 0) return false
      await deleteRevisions(tx, numbers)
      await deleteTrash(tx, numbers)
      await forgetAnswersAbout(tx, [externalId])
      await auditChange(tx, principal, { action: 'note.purged', target: { type: 'notes', id: externalId } }, client)
      return true
    })
  }
}

function notInTrash(pathId: string): AppError {
  return new AppError('not_found', `Entity with external_id '${shownId(pathId)}' not found in the trash`)
}
