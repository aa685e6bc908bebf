import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import type { UpdatedLinks } from '../link/update-links.ts'
import type { NoteWithContent } from '../note/note.ts'
import { noteDocument } from '../note/note-document.ts'
import type { NotePlace } from '../note/note-service.ts'
import type { Preconditions } from '../note/preconditions.ts'
import type { EntityDocument } from '../note/schema-notes.ts'
import { findNoteById } from '../note/store-notes.ts'
import { removeNote, type WriteContext } from '../note/write-note.ts'
import { type Writer, writeIn } from '../note/write-transaction.ts'
import { areTwins } from '../text/name/name-key.ts'
import { cleanDirectory, cleanDirectoryForDelete, cleanExistingDirectory, joinPath } from '../text/name/path.ts'
import { type Move, moveNote, moving } from './move-note.ts'
import { notesUnder, type PlacedNote } from './store-under.ts'

export interface DirectoryMove {
  source: string
  destination: string
  isAtomic: boolean
}

/** What became of the notes under a folder. */
export interface DirectoryOutcome {
  done: string[]
  errors: { path: string; error: string }[]
}

const SHOWN_FAILURES = 10

export class MoveService {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  move(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    move: Move,
    preconditions: Preconditions,
  ): Promise<EntityDocument & { links_updated?: UpdatedLinks[] }> {
    const work = moving(noteId, move, preconditions)
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const { note, parts, updated } = await work(tx, context)
      return { ...(await noteDocument(tx, note, parts)), ...(updated && { links_updated: updated }) }
    })
  }

  moveDirectory(writer: Writer, projectId: string, move: DirectoryMove): Promise<DirectoryOutcome> {
    const source = sourceDirectory(move.source)
    const destination = destinationDirectory(move.destination)
    if (source === destination) {
      throw new AppError('invalid_argument', 'source_directory and destination_directory are the same')
    }
    return this.#forEachUnder(
      writer,
      projectId,
      source,
      async (tx, context, note) => {
        const rest = note.file_path.slice(source.length + 1)
        const moved = await moveNote(tx, context, note, joinPath(destination, rest))
        return moved.note.file_path
      },
      { isAtomic: move.isAtomic, inOrder: (notes) => outOfTheWay(notes, source, destination) },
    )
  }

  deleteDirectory(writer: Writer, projectId: string, directory: string): Promise<DirectoryOutcome> {
    return this.#forEachUnder(writer, projectId, cleanDirectoryForDelete(directory), async (tx, context, note) => {
      await removeNote(tx, context, note)
      return note.file_path
    })
  }

  /** One transaction over what is there when it begins. A note that cannot be moved is named and left where it is. */
  #forEachUnder(
    writer: Writer,
    projectId: string,
    directory: string,
    act: (tx: Transaction, context: WriteContext, note: NoteWithContent) => Promise<string>,
    { isAtomic = false, inOrder }: { isAtomic?: boolean; inOrder?: (notes: PlacedNote[]) => PlacedNote[] } = {},
  ): Promise<DirectoryOutcome> {
    return writeIn(
      this.#deps,
      writer,
      projectId,
      async (tx, context) => {
        const notes = await notesUnder(tx, context.project.id, directory)
        const done = new Map<PlacedNote, string>()
        const errors: DirectoryOutcome['errors'] = []
        for await (const [placed, note] of readAhead(tx, inOrder?.(notes) ?? notes)) {
          try {
            done.set(placed, await act(tx, context, note))
          } catch (error) {
            if (!isAppError(error, 'invalid_argument')) throw error
            errors.push({ path: placed.file_path, error: error.message })
          }
        }
        if (isAtomic && errors.length > 0) throw nothingMoved(errors)
        return { done: notes.flatMap((note) => done.get(note) ?? []), errors: errors.sort(byPath) }
      },
      { alone: true },
    )
  }
}

/** Each of the notes whole. PostgreSQL is asked for the next one while the one before it is at work. */
async function* readAhead(
  tx: Transaction,
  notes: readonly PlacedNote[],
): AsyncGenerator<[PlacedNote, NoteWithContent]> {
  const read = (note: PlacedNote | undefined) => {
    const reading = note === undefined ? undefined : findNoteById(tx, note.id)
    ignoreFailure(reading, 'nobody waits for it when the one before it fails')
    return reading
  }
  let next = read(notes[0])
  for (const [index, placed] of notes.entries()) {
    const note = await next
    next = read(notes[index + 1])
    yield [placed, note as NoteWithContent]
  }
}

function sourceDirectory(raw: string): string {
  const source = cleanExistingDirectory(raw, 'source_directory')
  if (source === '')
    throw new AppError('invalid_argument', 'source_directory must name a folder, not the whole project')
  return source
}

/** In the order in which no note goes where one still lies that goes away itself: from `a/b` up to `a`, or down to `a/b/c`. */
function outOfTheWay(notes: readonly PlacedNote[], source: string, destination: string): PlacedNote[] {
  const depth = ({ file_path: path }: PlacedNote) => path.split('/').length
  const direction = isBelow(destination, source) ? -1 : 1
  return notes.toSorted((a, b) => direction * (depth(a) - depth(b)))
}

/** However the folder is spelled there: notes of the one are in the way of those of the other as twins. */
function isBelow(path: string, folder: string): boolean {
  const levels = folder.split('/').length
  const segments = path.split('/')
  return segments.length > levels && areTwins(segments.slice(0, levels).join('/'), folder)
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1
}

/** The root only where it is meant: a name of which nothing is left must not scatter the notes over it. */
function destinationDirectory(raw: string): string {
  const field = 'destination_directory'
  const folder = cleanDirectory(raw, field)
  if (folder === '' && (raw.trim() === '' || cleanExistingDirectory(raw, field) !== '')) {
    throw new AppError('invalid_argument', `${field} must name a folder with a letter or a digit; '/' is the root`)
  }
  return folder
}

function nothingMoved(errors: DirectoryOutcome['errors']): AppError {
  const shown = errors.slice(0, SHOWN_FAILURES).map(({ path, error }) => `${path}: ${error}`)
  const more = errors.length > shown.length ? `; and ${errors.length - shown.length} more` : ''
  return new AppError('invalid_argument', `Nothing was moved: ${shown.join('; ')}${more}`)
}
