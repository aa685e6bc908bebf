import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { type UpdatedLinks, updateLinks } from '../link/update-links.ts'
import { requireNote } from '../note/look-up.ts'
import type { NoteWithContent } from '../note/note.ts'
import { movedState, refuseUnfit, withMetadata } from '../note/note-state.ts'
import { saveEdited } from '../note/note-work.ts'
import { permalinkAfterMove } from '../note/permalink.ts'
import { claimPlace } from '../note/place.ts'
import { checkPreconditions, type Preconditions } from '../note/preconditions.ts'
import { findNoteById } from '../note/store-notes.ts'
import { changeNote, type WriteContext, type WrittenNote } from '../note/write-note.ts'
import type { NoteWork } from '../note/write-transaction.ts'
import { destinationOf } from './destination.ts'

export interface Move {
  destinationPath: string
  updateLinks: boolean
}

/** The note where it lies now, and with `updateLinks` the notes whose links were rewritten. */
export type MovedNote = WrittenNote & { updated?: UpdatedLinks[] }

export function moving(noteId: string, move: Move, preconditions: Preconditions): NoteWork<MovedNote> {
  return async (tx, context) => {
    const before = await requireNote(tx, context.project, noteId)
    checkPreconditions(before, preconditions)
    const moved = await moveNote(tx, context, before, destinationOf(move.destinationPath, before.file_path))
    if (!move.updateLinks) return moved
    const updated = await updateLinks(tx, context.project, moved.note, (linking, text) =>
      saveEdited(tx, context, linking, text),
    )
    // It may have linked to itself.
    return { note: (await findNoteById(tx, moved.note.id)) as NoteWithContent, parts: {}, updated }
  }
}

/** Takes a note to a clean path. Whatever is in the way is `invalid_argument`, and then nothing was changed. */
export async function moveNote(
  tx: Transaction,
  context: WriteContext,
  before: NoteWithContent,
  filePath: string,
): Promise<WrittenNote> {
  const { project, settings } = context
  if (filePath === before.file_path) {
    throw new AppError('invalid_argument', `The destination is the same as the present path: '${filePath}'`)
  }
  const permalink = permalinkAfterMove(project, settings, before, filePath)
  const place = { filePath, permalink, ownId: before.id }
  const claimed = await claimPlace(tx, project, place).catch((error: unknown) => {
    throw isAppError(error, 'conflict') ? new AppError('invalid_argument', error.message) : error
  })
  const state = withMetadata(await movedState(tx, before, filePath), { permalink: claimed })
  refuseUnfit(state)
  return changeNote(tx, context, before, state, 'moved')
}
