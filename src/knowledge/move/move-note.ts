import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { NoteWithContent } from '../note/note.ts'
import { movedState, refuseUnfit, withMetadata } from '../note/note-state.ts'
import { permalinkAfterMove } from '../note/permalink.ts'
import { claimPlace } from '../note/place.ts'
import { changeNote, type WriteContext, type WrittenNote } from '../note/write-note.ts'

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
  const state = withMetadata(movedState(before, filePath), { permalink: claimed })
  refuseUnfit(state)
  return changeNote(tx, context, before, state, 'moved')
}
