import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { linkKeys } from '../link/resolve-exactly.ts'
import { findNames } from '../link/store-names.ts'
import { requireProject } from '../project/look-up.ts'
import { knowledgeId } from '../project/urls.ts'
import { cleanMetadata } from '../text/clean-metadata.ts'
import { applyEdit, type Edit } from '../text/edit/apply-edit.ts'
import { cleanText } from '../text/frontmatter.ts'
import { lookUpNote, noteNotFound, requireNote } from './look-up.ts'
import type { Note, NoteWithContent, Project } from './note.ts'
import { type CachedNote, NoteCache } from './note-cache.ts'
import { type NoteParts, noteDocument, toDocument } from './note-document.ts'
import { type NoteInput, type PreparedNote, prepareNote } from './note-input.ts'
import { editedState, newState, refuseLongText, refuseUnfit, replacedState, withMetadata } from './note-state.ts'
import { ownPermalink, permalinkAfterMove } from './permalink.ts'
import { claimAmong, claimPlace, placeKeys } from './place.ts'
import { checkPreconditions, etagOf, type Preconditions } from './preconditions.ts'
import type { EntityDocument } from './schema-notes.ts'
import { isExternalIdTaken } from './store-notes.ts'
import { findWholeNote, type WholeNote } from './store-whole-note.ts'
import { changeNote, createNote, removeNote, type WriteContext, type WrittenNote } from './write-note.ts'
import { type Writer, writeIn } from './write-transaction.ts'

/** The ids of a path, as the caller wrote them. */
export interface NotePlace {
  projectId: string
  noteId: string
}

export class NoteService {
  readonly #deps: KnowledgeDeps
  readonly #cache: NoteCache

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
    this.#cache = new NoteCache({ db: deps.db, clock: deps.clock, ttlMs: deps.settings.entity_cache_ttl })
  }

  create(writer: Writer, projectId: string, input: NoteInput): Promise<EntityDocument> {
    const prepared = prepareNote(input, this.#deps.settings)
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const { note, parts } = await insertPrepared(tx, context, newId(), prepared)
      return noteDocument(tx, note, parts)
    })
  }

  /** Replaces the note in place, or makes one with exactly this id. */
  replace(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    input: NoteInput,
    preconditions: Preconditions,
  ): Promise<{ isNew: boolean; document: EntityDocument }> {
    const externalId = knowledgeId(noteId)
    if (externalId === null) throw new AppError('unprocessable', 'entity_id must be a UUID to write a note under it')
    const prepared = prepareNote(input, this.#deps.settings)
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const before = await lookUpNote(tx, context.project, externalId)
      checkPreconditions(before, preconditions)
      const { note, parts } =
        before === undefined
          ? await insertUnder(tx, context, externalId, prepared)
          : await replacePrepared(tx, context, before, prepared)
      return { isNew: before === undefined, document: await noteDocument(tx, note, parts) }
    })
  }

  edit(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    wanted: Edit,
    preconditions: Preconditions,
  ): Promise<EntityDocument> {
    const edit = cleanEdit(wanted)
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const before = await requireNote(tx, context.project, noteId)
      checkPreconditions(before, preconditions)
      const { note, parts } = await saveEdited(tx, context, before, applyEdit(before.content, edit))
      return noteDocument(tx, note, parts)
    })
  }

  /** False when there is no such note. */
  delete(writer: Writer, { projectId, noteId }: NotePlace, preconditions: Preconditions): Promise<boolean> {
    return writeIn(this.#deps, writer, projectId, async (tx, context) => {
      const note = await lookUpNote(tx, context.project, noteId)
      if (note === undefined) return false
      checkPreconditions(note, preconditions)
      await removeNote(tx, context, note)
      return true
    })
  }

  /** The document as JSON, and its tag. */
  async get({ projectId, noteId }: NotePlace): Promise<Pick<CachedNote, 'etag' | 'body'>> {
    const { db } = this.#deps
    const project = await requireProject(db, projectId)
    const cached = this.#cache.get(project.id, knowledgeId(noteId) ?? '')
    if (cached !== undefined) return cached
    const { changes } = this.#cache
    const whole = await readWhole(db, project, knowledgeId(noteId))
    if (whole === undefined) throw noteNotFound(noteId)
    const { note, parts } = whole
    const answer = { etag: etagOf(note), body: Buffer.from(JSON.stringify(toDocument(note, parts))) }
    // Of one that leaves notes out, nobody would know that a note which is left out has changed.
    if (parts.incoming.isTruncated) return answer
    const about = notesIn(note, parts)
    this.#cache.put({ ...answer, projectId: project.id, externalId: note.external_id, about }, changes)
    return answer
  }
}

/** On SQLite several statements, which have to see one state of the data. */
async function readWhole(db: Database, project: Project, externalId: string | null): Promise<WholeNote | undefined> {
  if (externalId === null) return undefined
  const find = (reader: Reader) => findWholeNote(reader, project.id, externalId)
  return db.engine === 'sqlite' ? db.read(find) : find(db)
}

function cleanEdit(edit: Edit): Edit {
  const { content, section, metadata } = edit
  return {
    ...edit,
    content: cleanText(content),
    ...(section && { section: cleanText(section) }),
    ...(metadata && { metadata: cleanMetadata(metadata) }),
  }
}

async function insertUnder(
  tx: Transaction,
  context: WriteContext,
  externalId: string,
  prepared: PreparedNote,
): Promise<WrittenNote> {
  if (await isExternalIdTaken(tx, externalId)) {
    throw new AppError('conflict', `The id ${externalId} belongs to a note of another project`)
  }
  return insertPrepared(tx, context, externalId, prepared)
}

async function insertPrepared(
  tx: Transaction,
  context: WriteContext,
  externalId: string,
  prepared: PreparedNote,
): Promise<WrittenNote> {
  const { project, settings } = context
  const { filePath } = prepared
  const place = { filePath, permalink: prepared.permalink ?? ownPermalink(project, settings, filePath, externalId) }
  // One look-up for what is in the way and for what the links lead to.
  const keys = linkKeys(project, filePath, prepared.parsed.links)
  const found = { ...(await findNames(tx, project.id, [...placeKeys(place), ...keys.flat()])), keys }
  const state = newState(prepared, await claimAmong(tx, project, place, found))
  refuseUnfit(state, 'too_large')
  return createNote(tx, context, externalId, state, { found })
}

async function replacePrepared(
  tx: Transaction,
  context: WriteContext,
  before: NoteWithContent,
  prepared: PreparedNote,
): Promise<WrittenNote> {
  const { project, settings } = context
  const { filePath } = prepared
  const permalink = await claimPlace(tx, project, {
    filePath,
    permalink: prepared.permalink ?? permalinkAfterMove(project, settings, before, filePath),
    ownId: before.id,
  })
  const state = replacedState(before, prepared, permalink)
  refuseUnfit(state, 'too_large')
  if (state.content === before.content && filePath === before.file_path) return { note: before, parts: {} }
  return changeNote(tx, context, before, state, 'updated')
}

/** Takes over an edited text: its title, type and permalink take effect, its path stays. */
export async function saveEdited(
  tx: Transaction,
  context: WriteContext,
  before: NoteWithContent,
  text: string,
): Promise<WrittenNote> {
  if (text === before.content) return { note: before, parts: {} }
  refuseLongText(text)
  let state = editedState(before, text)
  if (state.permalink !== before.permalink) {
    const place = { filePath: before.file_path, permalink: state.permalink, ownId: before.id }
    state = withMetadata(state, { permalink: await claimPlace(tx, context.project, place) })
  }
  refuseUnfit(state)
  return changeNote(tx, context, before, state, 'updated')
}

/** The numbers of all notes that the answer names. */
function notesIn(note: Note, { outgoing, incoming }: NoteParts): number[] {
  const ids = new Set([note.id])
  for (const { to } of outgoing) if (to !== null) ids.add(to.id)
  for (const { from } of incoming.relations) ids.add(from.id)
  return [...ids]
}
