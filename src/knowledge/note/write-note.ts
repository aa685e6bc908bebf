/**
 * Every change of a note goes through here, inside one transaction: the row and its text, what is read out of the text,
 * the names it answers to, its links and the links that wait for it, the words of the search, its past, the feed of
 * changes, the counts and the audit log. Whoever reads sees all of it or nothing.
 */
import { hash } from 'node:crypto'
import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { addToTally } from '../../platform/tally/store.ts'
import { recordChange } from '../history/store-changes.ts'
import { keepRevision, listPastNames } from '../history/store-revisions.ts'
import { trashNote } from '../history/store-trash.ts'
import { bindForwardReferences, bindOwnLinks, replaceRelations, unbind } from '../link/bind-links.ts'
import { addNames, dropNames, type NameRow, replaceNames } from '../link/names.ts'
import type { FoundLinkNames } from '../link/resolve-exactly.ts'
import { createdNotesTally, noteTally } from '../project/note-tally.ts'
import {
  changeSearchRows,
  dropSearchRows,
  hasSearchRows,
  replaceSearchRows,
  type SearchableNote,
} from '../search/index/store-search-rows.ts'
import { composed } from '../search/words/unicode-forms.ts'
import type { KnowledgeSettings } from '../settings.ts'
import type { NoteChange } from '../tables.ts'
import { readBody } from '../text/body/parse-body.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { aliasesOf, answerMetadata, canonicalType, timesOf } from '../text/frontmatter/note-metadata.ts'
import type { Note, NoteWithContent, Project } from './note.ts'
import { touchNotes } from './note-cache.ts'
import type { NoteParts } from './note-document.ts'
import type { NoteState } from './note-state.ts'
import { deleteNote, insertContent, insertNote, insertNoteAgain, updateContent, updateNote } from './store-notes.ts'
import { insertObservations, replaceObservations } from './store-observations.ts'

/** Who writes where and when. */
export interface WriteContext {
  project: Project
  principal: Principal
  now: Micros
  settings: KnowledgeSettings
  client?: ClientInfo
}

/** A note as it was written, and what the writer knows of it by the way. */
export interface WrittenNote {
  note: NoteWithContent
  parts: Partial<NoteParts>
}

const NO_RELATIONS = { relations: [], isTruncated: false }

export interface Creation {
  /** A note that comes back under the number and with the history it had; what it was is a past version already. */
  again?: Note
  /** What its links can mean, where that was looked up already. */
  found?: FoundLinkNames
}

export async function createNote(
  tx: Transaction,
  context: WriteContext,
  externalId: string,
  state: NoteState,
  { again, found }: Creation = {},
): Promise<WrittenNote> {
  const { project, principal, now } = context
  const { created, modified } = timesOf(state.metadata)
  const row = {
    ...columnsOf(state),
    external_id: externalId,
    project_id: project.id,
    // Its deletion had a version of its own in the feed.
    version: again === undefined ? 1 : again.version + 2,
    last_change: again === undefined ? ('created' as const) : ('restored' as const),
    created_at: created ?? again?.created_at ?? now,
    updated_at: modified ?? now,
    written_at: now,
    created_by: again === undefined ? principal.userId : again.created_by,
    written_by: principal.userId,
  }
  const note = again === undefined ? await insertNote(tx, row) : { ...row, id: again.id }
  if (again !== undefined) await insertNoteAgain(tx, note)
  await insertContent(tx, note.id, state.content)
  await insertObservations(tx, note.id, state.parsed.observations)
  const aliases = aliasesOf(state.metadata)
  // Its names went with it; its versions have them.
  const past = again === undefined ? [] : await listPastNames(tx, note.id)
  const names = await addNames(tx, project, { note, aliases }, past)
  const known = found && withOwnNames(found, note, names)
  const outgoing = await replaceRelations(tx, project, note, state.parsed.links, { isNew: true, found: known })
  const [isAwaited] = await Promise.all([
    bindForwardReferences(tx, project, note, names),
    replaceSearchRows(tx, note, state, true),
  ])
  await addToTally(tx, noteTally(project.id), 1)
  // A note that comes back was counted when it was new.
  if (again === undefined) await addToTally(tx, createdNotesTally(toRfc3339(now).slice(0, 10)), 1)
  await finish(tx, context, note, note.last_change)
  const parts = { observations: state.parsed.observations, outgoing, ...(!isAwaited && { incoming: NO_RELATIONS }) }
  return { note: { ...note, content: state.content }, parts }
}

/** It may link to itself. */
function withOwnNames(found: FoundLinkNames, note: Note, names: readonly NameRow[]): FoundLinkNames {
  const own = names.filter(({ key }) => found.keys.some((keys) => keys.includes(key)))
  return own.length === 0 ? found : { ...found, names: [...found.names, ...own.map((name) => ({ ...note, ...name }))] }
}

export async function changeNote(
  tx: Transaction,
  context: WriteContext,
  before: NoteWithContent,
  state: NoteState,
  change: NoteChange,
): Promise<WrittenNote> {
  const { project, principal, now } = context
  const { content: contentBefore, ...row } = before
  const { created, modified } = timesOf(state.metadata)
  const note: Note = {
    ...row,
    ...columnsOf(state),
    version: before.version + 1,
    last_change: change,
    created_at: created ?? before.created_at,
    updated_at: modified ?? now,
    written_at: now,
    written_by: principal.userId,
  }
  // First of all: on PostgreSQL whoever changes the same note at once has to begin again here, and nowhere later.
  await updateNote(tx, row, note)
  await keepRevision(tx, before, state.content)
  if (state.content !== contentBefore) await updateContent(tx, note.id, state.content)
  const isMoved = note.file_path !== before.file_path
  const aliases = aliasesOf(state.metadata)
  const aliasesBefore = note.metadata === before.metadata ? aliases : aliasesOf(JSON.parse(before.metadata))
  const isRenamed =
    isMoved ||
    note.title !== before.title ||
    note.permalink !== before.permalink ||
    JSON.stringify(aliases) !== JSON.stringify(aliasesBefore)
  const names = isRenamed
    ? await replaceNames(tx, project, { note: row, aliases: aliasesBefore }, { note, aliases })
    : null
  const isBodyNew = splitText(contentBefore).body !== state.body
  // Side by side: PostgreSQL is asked for all that they need at once.
  const [isIndexed, outgoing] = await Promise.all([
    hasSearchRows(tx, note.id),
    isBodyNew ? replaceRelations(tx, project, note, state.parsed.links, { isNew: false }) : undefined,
    isBodyNew ? replaceObservations(tx, note.id, state.parsed.observations) : undefined,
    // What it is bound to stays; a link relative to the new folder may lead somewhere now.
    isMoved && !isBodyNew ? bindOwnLinks(tx, project, note) : undefined,
  ])
  await Promise.all([
    names === null ? undefined : bindForwardReferences(tx, project, note, names),
    isIndexed
      ? searchableBefore(tx, before, state).then((old) => changeSearchRows(tx, old, { note, text: state }))
      : replaceSearchRows(tx, note, state, false),
  ])
  await finish(
    tx,
    context,
    note,
    change,
    isMoved ? { file_path: { old: before.file_path, new: note.file_path } } : undefined,
  )
  const parts = { observations: state.parsed.observations, ...(outgoing && { outgoing }) }
  return { note: { ...note, content: state.content }, parts }
}

/** What of the note could be searched before it came to this state. */
async function searchableBefore(tx: Transaction, before: NoteWithContent, state: NoteState): Promise<SearchableNote> {
  const { body } = splitText(before.content)
  const parsed = body === state.body ? state.parsed : await readBody(body, () => tx.breathe())
  return { note: before, text: { body, parsed, metadata: JSON.parse(before.metadata) } }
}

export async function removeNote(tx: Transaction, context: WriteContext, note: NoteWithContent): Promise<void> {
  const { project, principal, now } = context
  await deleteNote(tx, note.id)
  await trashNote(tx, note, principal, now)
  await dropNames(tx, project, note, aliasesOf(JSON.parse(note.metadata)))
  await dropSearchRows(tx, note.id)
  await unbind(tx, project, note.id)
  await addToTally(tx, noteTally(project.id), -1)
  await finish(tx, context, { ...note, version: note.version + 1 }, 'deleted')
}

async function finish(
  tx: Transaction,
  { project, principal, now, client }: WriteContext,
  note: Note,
  change: NoteChange,
  changes?: Record<string, { old: unknown; new: unknown }>,
): Promise<void> {
  await recordChange(tx, project, note, { change, at: now, by: principal.userId })
  touchNotes(tx, [note.id])
  const target = { type: 'notes', id: note.external_id }
  await auditChange(tx, principal, { action: `note.${change}`, target, changes }, client)
}

function columnsOf(state: NoteState) {
  return {
    title: state.title,
    note_type: state.noteType,
    type_key: composed(canonicalType(state.noteType)),
    permalink: state.permalink,
    file_path: state.filePath,
    metadata: JSON.stringify(answerMetadata(state.metadata)),
    checksum: hash('sha256', state.content),
    size: state.content.length,
  }
}
