import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { requireNote } from '../note/look-up.ts'
import type { NoteWithContent } from '../note/note.ts'
import { noteDocument } from '../note/note-document.ts'
import type { NotePlace } from '../note/note-service.ts'
import { refuseUnfit, storedState } from '../note/note-state.ts'
import { withFreePermalink } from '../note/note-work.ts'
import { checkPreconditions, type Preconditions } from '../note/preconditions.ts'
import type { EntityDocument } from '../note/schema-notes.ts'
import { changeNote, type WriteContext, type WrittenNote } from '../note/write-note.ts'
import { type Writer, writeIn } from '../note/write-transaction.ts'
import { requireProject } from '../project/look-up.ts'
import { inTurns } from '../text/steps.ts'
import { currentRevision, findRevision, listRevisions, type Revision } from './store-revisions.ts'
import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

export type WholeRevision = Revision & { content: string }

export interface RevisionPage {
  /** Newest first; the current one is the first of the first page. */
  revisions: Revision[]
  current: number
  /** Below which version the next page begins; null on the last one. */
  next: number | null
}

export class RevisionService {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  list(place: NotePlace, limit: number, below: number | null): Promise<RevisionPage> {
    return this.#read(place, async (snapshot, note) => {
      const isFirst = below === null || below > note.version
      const past = await listRevisions(snapshot, note.id, isFirst ? note.version : below, limit + 1)
      const all = isFirst ? [currentRevision(note), ...past] : past
      const revisions = all.slice(0, limit)
      const next = all.length > limit ? (revisions.at(-1) as Revision).version : null
      return { revisions, current: note.version, next }
    })
  }

  get(place: NotePlace, version: number): Promise<WholeRevision & { current: number }> {
    return this.#read(place, async (snapshot, note) => ({
      ...(await requireRevision(snapshot, note, version)),
      current: note.version,
    }))
  }

  /** What changed from one version to another: by default, what the last change was. */
  async diff(
    place: NotePlace,
    wanted: { from?: number | undefined; to?: number | undefined },
  ): Promise<UnifiedDiff & { from: number; to: number }> {
    const [before, after] = await this.#read(place, async (snapshot, note) => {
      const to = wanted.to ?? note.version
      const from = wanted.from ?? (await listRevisions(snapshot, note.id, to, 1))[0]?.version ?? to
      return [await requireRevision(snapshot, note, from), await requireRevision(snapshot, note, to)] as const
    })
    const diff = await inTurns(unifiedDiff(labelled(before), labelled(after)))
    return { ...diff, from: before.version, to: after.version }
  }

  /** Gives the note the text of an old version again, as a new version. Its path stays as it is. */
  restore(writer: Writer, place: NotePlace, version: number, preconditions: Preconditions): Promise<EntityDocument> {
    return writeIn(this.#deps, writer, place.projectId, async (tx, context) => {
      const before = await requireNote(tx, context.project, place.noteId)
      checkPreconditions(before, preconditions)
      const { content } = await requireRevision(tx, before, version)
      if (content === before.content) return noteDocument(tx, before)
      const { note, parts } = await saveRestored(tx, context, before, content)
      return noteDocument(tx, note, parts)
    })
  }

  #read<T>(
    { projectId, noteId }: NotePlace,
    work: (snapshot: Reader, note: NoteWithContent) => Promise<T>,
  ): Promise<T> {
    return this.#deps.db.read(async (snapshot) => {
      const project = await requireProject(snapshot, projectId)
      return work(snapshot, await requireNote(snapshot, project, noteId))
    })
  }
}

async function requireRevision(reader: Reader, note: NoteWithContent, version: number): Promise<WholeRevision> {
  if (version === note.version) return { ...currentRevision(note), content: note.content }
  const revision = await findRevision(reader, note, version)
  if (revision !== undefined) return revision
  throw new AppError('not_found', `Version ${version} of the note was not found: the current one is ${note.version}`)
}

async function saveRestored(
  tx: Transaction,
  context: WriteContext,
  before: NoteWithContent,
  text: string,
): Promise<WrittenNote> {
  const state = await withFreePermalink(tx, context, before, await storedState(tx, text, before.file_path))
  refuseUnfit(state)
  if (state.content === before.content) return { note: before, parts: {} }
  return changeNote(tx, context, before, state, 'restored')
}

function labelled({ file_path: path, version, content }: WholeRevision): { label: string; text: string } {
  return { label: `${path}\tversion ${version}`, text: content }
}
