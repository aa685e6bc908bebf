import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { requireProject } from '../project/look-up.ts'
import type { Edit } from '../text/edit/apply-edit.ts'
import { noteNotFound } from './look-up.ts'
import type { Note } from './note.ts'
import { type CachedNote, NoteCache } from './note-cache.ts'
import { type NoteParts, noteDocument, toDocument } from './note-document.ts'
import type { NoteInput } from './note-input.ts'
import { creating, deleting, editing, replacing } from './note-work.ts'
import { etagOf, type Preconditions } from './preconditions.ts'
import type { EntityDocument } from './schema-notes.ts'
import { findWholeNote, findWholeNoteIn, type WholeNote } from './store-whole-note.ts'
import type { WrittenNote } from './write-note.ts'
import { type NoteWork, type Writer, writeIn } from './write-transaction.ts'

/** The ids of a path, as the caller wrote them. */
export interface NotePlace {
  projectId: string
  noteId: string
}

type NoteAnswer = Pick<CachedNote, 'etag' | 'body'>

const MANY_PARTS = 5_000

export class NoteService {
  readonly #deps: KnowledgeDeps
  readonly #cache: NoteCache

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
    this.#cache = new NoteCache({ db: deps.db, clock: deps.clock, ttlMs: deps.settings.entity_cache_ttl })
  }

  /** `also` is part of the same transaction. */
  async create(
    writer: Writer,
    projectId: string,
    input: NoteInput,
    also?: (tx: Transaction, document: EntityDocument) => Promise<void>,
  ): Promise<EntityDocument> {
    const work = await creating(input, this.#deps.settings)
    return this.#write(writer, projectId, work, async (tx, written) => {
      const document = await documentOf(tx, written)
      await also?.(tx, document)
      return document
    })
  }

  /** Replaces the note in place, or makes one with exactly this id. */
  async replace(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    input: NoteInput,
    preconditions: Preconditions,
  ): Promise<{ isNew: boolean; document: EntityDocument }> {
    const work = await replacing(noteId, input, preconditions, this.#deps.settings)
    return this.#write(writer, projectId, work, async (tx, written) => ({
      isNew: written.isNew,
      document: await documentOf(tx, written),
    }))
  }

  edit(
    writer: Writer,
    { projectId, noteId }: NotePlace,
    edit: Edit,
    preconditions: Preconditions,
  ): Promise<EntityDocument> {
    return this.#write(writer, projectId, editing(noteId, edit, preconditions), documentOf)
  }

  /** False when there is no such note. */
  delete(writer: Writer, { projectId, noteId }: NotePlace, preconditions: Preconditions): Promise<boolean> {
    return writeIn(this.#deps, writer, projectId, deleting(noteId, preconditions))
  }

  /** The document as JSON, and its tag. */
  async get({ projectId, noteId }: NotePlace): Promise<NoteAnswer> {
    const { db } = this.#deps
    if (db.engine === 'postgres') return this.#getAtOnce(projectId, noteId)
    const id = parseBareId(noteId)
    const project = await requireProject(db, projectId)
    const cached = this.#cache.get(project.id, id ?? '')
    if (cached !== undefined) return cached
    const { changes } = this.#cache
    const whole = id === null ? undefined : await findWholeNote(db, project, id)
    if (whole === undefined) throw noteNotFound(noteId)
    const { note, parts } = whole
    const answer = await answerOf(whole)
    // Of one that leaves notes out, nobody would know that a note which is left out has changed.
    if (parts.outgoing.isTruncated || parts.incoming.isTruncated) return answer
    const about = notesIn(note, parts)
    this.#cache.put({ ...answer, projectId: project.id, externalId: note.external_id, about }, changes)
    return answer
  }

  /** On PostgreSQL, which is asked once; what is missing is asked only where something is. */
  async #getAtOnce(projectId: string, noteId: string): Promise<NoteAnswer> {
    const { db } = this.#deps
    const [projectExternalId, id] = [parseBareId(projectId), parseBareId(noteId)]
    const whole =
      projectExternalId === null || id === null ? undefined : await findWholeNoteIn(db, projectExternalId, id)
    if (whole !== undefined) return answerOf(whole)
    await requireProject(db, projectId)
    throw noteNotFound(noteId)
  }

  #write<T, Shown>(
    writer: Writer,
    projectId: string,
    work: NoteWork<T>,
    show: (tx: Transaction, done: T) => Promise<Shown>,
  ): Promise<Shown> {
    return writeIn(this.#deps, writer, projectId, async (tx, context) => show(tx, await work(tx, context)))
  }
}

function documentOf(tx: Transaction, { note, parts }: WrittenNote): Promise<EntityDocument> {
  return noteDocument(tx, note, parts)
}

async function answerOf({ note, parts }: WholeNote): Promise<NoteAnswer> {
  // Of very many, each of the three steps takes a while.
  const isLong = parts.observations.length + parts.outgoing.relations.length > MANY_PARTS
  if (isLong) await nextTurn()
  const document = await toDocument(note, parts)
  if (isLong) await nextTurn()
  return { etag: etagOf(note), body: Buffer.from(JSON.stringify(document)) }
}

/** The numbers of all notes that the answer names. */
function notesIn(note: Note, { outgoing, incoming }: NoteParts): number[] {
  const ids = new Set([note.id])
  for (const { to } of outgoing.relations) if (to !== null) ids.add(to.id)
  for (const { from } of incoming.relations) ids.add(from.id)
  return [...ids]
}
