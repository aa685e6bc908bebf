import { AppError } from '../../platform/errors/app-error.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { NoteWithContent, Project } from './note.ts'
import { findNote } from './store-notes.ts'

/** The note that a path names; what is no UUID is simply unknown. */
export async function lookUpNote(
  reader: Reader,
  project: Project,
  pathId: string,
): Promise<NoteWithContent | undefined> {
  const externalId = parseBareId(pathId)
  return externalId === null ? undefined : await findNote(reader, project.id, externalId)
}

export async function requireNote(reader: Reader, project: Project, pathId: string): Promise<NoteWithContent> {
  const note = await lookUpNote(reader, project, pathId)
  if (note === undefined) throw noteNotFound(pathId)
  return note
}

export function noteNotFound(pathId: string): AppError {
  return new AppError('not_found', `Entity with external_id '${shownId(pathId)}' not found`)
}
