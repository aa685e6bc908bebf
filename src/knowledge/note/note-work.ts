/**
 * The changes of one note that callers ask for. Each is judged as far as that goes without the database, which may throw, and answers
 * with the work that is left to do inside a transaction: one of its own, or one that it shares.
 */
import { AppError } from '../../platform/errors/app-error.ts'
import { newId, parseBareId } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { linkKeys } from '../link/resolve-exactly.ts'
import { findNames } from '../link/store-names.ts'
import { malformed } from '../malformed.ts'
import type { KnowledgeSettings } from '../settings.ts'
import { cleanText, dropUnstorable } from '../text/clean-text.ts'
import { applyEdit, type Edit } from '../text/edit/apply-edit.ts'
import { cleanMetadata } from '../text/frontmatter/clean-metadata.ts'
import { lookUpNote, requireNote } from './look-up.ts'
import type { NoteWithContent } from './note.ts'
import { type NoteInput, type PreparedNote, prepareNote } from './note-input.ts'
import {
  editedState,
  type NoteState,
  newState,
  refuseLongText,
  refuseUnfit,
  replacedState,
  withMetadata,
} from './note-state.ts'
import { ownPermalink, permalinkAfterMove } from './permalink.ts'
import { claimAmong, claimPlace, placeKeys } from './place.ts'
import { checkPreconditions, type Preconditions } from './preconditions.ts'
import { isExternalIdTaken } from './store-notes.ts'
import { changeNote, createNote, removeNote, type WriteContext, type WrittenNote } from './write-note.ts'
import type { NoteWork } from './write-transaction.ts'

export async function creating(input: NoteInput, settings: KnowledgeSettings): Promise<NoteWork<WrittenNote>> {
  const prepared = await prepareNote(input, settings)
  return (tx, context) => insertPrepared(tx, context, newId(), prepared)
}

/** Replaces the note in place, or makes one with exactly this id. */
export async function replacing(
  noteId: string,
  input: NoteInput,
  preconditions: Preconditions,
  settings: KnowledgeSettings,
): Promise<NoteWork<WrittenNote & { isNew: boolean }>> {
  const externalId = parseBareId(noteId)
  if (externalId === null) throw malformed(['path', 'entity_id'], 'entity_id must be a UUID to write a note under it')
  const prepared = await prepareNote(input, settings)
  return async (tx, context) => {
    const before = await lookUpNote(tx, context.project, externalId)
    checkPreconditions(before, preconditions)
    const written =
      before === undefined
        ? await insertUnder(tx, context, externalId, prepared)
        : await replacePrepared(tx, context, before, prepared)
    return { ...written, isNew: before === undefined }
  }
}

export function editing(noteId: string, wanted: Edit, preconditions: Preconditions): NoteWork<WrittenNote> {
  const edit = cleanEdit(wanted)
  return async (tx, context) => {
    const before = await requireNote(tx, context.project, noteId)
    checkPreconditions(before, preconditions)
    return saveEdited(tx, context, before, applyEdit(before.content, edit))
  }
}

/** False when there is no such note. */
export function deleting(noteId: string, preconditions: Preconditions): NoteWork<boolean> {
  return async (tx, context) => {
    const note = await lookUpNote(tx, context.project, noteId)
    if (note === undefined) return false
    checkPreconditions(note, preconditions)
    await removeNote(tx, context, note)
    return true
  }
}

function cleanEdit(edit: Edit): Edit {
  const { content, section, find_text: wanted, metadata } = edit
  return {
    ...edit,
    content: cleanText(content),
    ...(section && { section: cleanText(section) }),
    // Half of a surrogate pair must not be found in a whole one: what is left of that is no text.
    ...(wanted && { find_text: dropUnstorable(wanted) }),
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
  const ownKeys = placeKeys(place)
  const keys = linkKeys(project, filePath, prepared.parsed.links)
  const { names, isCrowded } = await findNames(tx, project.id, ownKeys.concat(...keys))
  const found = { names, isCrowded, keys }
  const state = newState(prepared, await claimAmong(tx, project, { ...place, keys: ownKeys }, found))
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
  const state = await withFreePermalink(tx, context, before, await editedState(tx, before, text))
  refuseUnfit(state)
  return changeNote(tx, context, before, state, 'updated')
}

/** A text may ask for another permalink than the note has: it gets it, with a suffix where that is taken. Its path stays. */
export async function withFreePermalink(
  tx: Transaction,
  { project }: WriteContext,
  before: NoteWithContent,
  state: NoteState,
): Promise<NoteState> {
  if (state.permalink === before.permalink) return state
  const place = { filePath: before.file_path, permalink: state.permalink, ownId: before.id }
  return withMetadata(state, { permalink: await claimPlace(tx, project, place) })
}
