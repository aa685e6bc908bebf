import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { isLonger } from '../../platform/text/is-longer.ts'
import { type ParsedBody, readBody } from '../text/body/parse-body.ts'
import { retitle } from '../text/edit/retitle.ts'
import {
  composeText,
  editYaml,
  hasOwnSpelling,
  parseEditedYaml,
  parseStoredYaml,
  replaceYaml,
  spelledAs,
  splitText,
} from '../text/frontmatter/frontmatter.ts'
import type { JsonValue, Metadata } from '../text/frontmatter/metadata.ts'
import { permalinkOf, titleOf, typeOf } from '../text/frontmatter/note-metadata.ts'
import { stemOf } from '../text/name/path.ts'
import { MAX_PERMALINK } from '../text/name/slug.ts'
import type { NoteWithContent } from './note.ts'
import { hasTooManyLines, MAX_CONTENT, MAX_LINES, type PreparedNote } from './note-input.ts'

/** All of a note that its text and its place say: what a write leads to. */
export interface NoteState {
  filePath: string
  title: string
  noteType: string
  permalink: string | null
  metadata: Metadata
  /** The whole text: frontmatter and body. */
  content: string
  body: string
  parsed: ParsedBody
}

export type MetadataChanges = Record<string, JsonValue | null>

const DEFAULT_TYPE = 'note'

export function newState(note: PreparedNote, permalink: string | null): NoteState {
  const { filePath, body, parsed } = note
  const own = { title: note.title, type: note.noteType ?? DEFAULT_TYPE, ...(permalink !== null && { permalink }) }
  const metadata = { ...own, ...note.metadata }
  const content = asSpelled(note, composeText(metadata, body))
  return { ...stateOf(metadata, filePath), content, body, parsed }
}

/** The new body under the old frontmatter, in which only what differs is written anew. */
export function replacedState(before: NoteWithContent, note: PreparedNote, permalink: string | null): NoteState {
  const { filePath, sentBody, parsed } = note
  // Whoever sends a text back as it was read changes nothing, its blank lines included.
  const body = sentBody === splitText(before.content).body ? sentBody : note.body
  const old = stateOf(metadataOf(before), filePath)
  const own = { title: note.title, type: note.noteType ?? old.noteType, permalink }
  const removed = Object.fromEntries(note.removed.map((key) => [key, null]))
  const emptied = Object.keys(note.metadata).filter((key) => note.metadata[key] === null)
  const wanted = { ...own, ...note.metadata, ...removed }
  const state = withMetadata({ ...old, content: before.content, body, parsed }, wanted, emptied)
  return { ...state, content: asSpelled(note, withBody(state.content, body)) }
}

function asSpelled({ sentYaml }: PreparedNote, content: string): string {
  if (sentYaml === null || !hasOwnSpelling(sentYaml)) return content
  const parts = splitText(content)
  return parts.yaml === null ? content : replaceYaml(parts, spelledAs(sentYaml, parts.yaml)) + parts.body
}

/** What an edited text says. A text that lost its frontmatter gets the most necessary of it back. */
export async function editedState(tx: Transaction, before: NoteWithContent, text: string): Promise<NoteState> {
  const { title, note_type: type, permalink, file_path: filePath } = before
  const { yaml, body } = splitText(text)
  const own = { title, type, ...(permalink !== null && { permalink }) }
  const state = await changedState(tx, before, yaml === null ? composeText(own, body) : text, filePath)
  const newTitle = retitle({ text: before.content, title }, state.content)
  const isPermalinkLost = state.permalink === null && permalink !== null
  if (newTitle === null && !isPermalinkLost) return state
  return withMetadata(state, { ...(newTitle !== null && { title: newTitle }), ...(isPermalinkLost && { permalink }) })
}

/** The same text at another path. */
export function movedState(tx: Transaction, before: NoteWithContent, filePath: string): Promise<NoteState> {
  return changedState(tx, before, before.content, filePath)
}

/** What a text says that was kept: an old version, or one in the trash. */
export function storedState(tx: Transaction, content: string, filePath: string): Promise<NoteState> {
  return stateOfText(tx, content, filePath, parseStoredYaml)
}

function changedState(tx: Transaction, before: NoteWithContent, content: string, filePath: string): Promise<NoteState> {
  const { yaml: old } = splitText(before.content)
  return stateOfText(tx, content, filePath, (yaml) => (yaml === old ? metadataOf(before) : parseEditedYaml(yaml, old)))
}

async function stateOfText(
  tx: Transaction,
  content: string,
  filePath: string,
  parse: (yaml: string) => Metadata,
): Promise<NoteState> {
  const { yaml, body } = splitText(content)
  const metadata = yaml === null ? {} : parse(yaml)
  return { ...stateOf(metadata, filePath), content, body, parsed: await readBody(body, () => tx.breathe()) }
}

function metadataOf({ metadata }: NoteWithContent): Metadata {
  return JSON.parse(metadata)
}

/** Other frontmatter; keys that stay as they are keep their bytes. Null takes a key away; emptied ones stay without a value. */
export function withMetadata(state: NoteState, wanted: MetadataChanges, emptied: readonly string[] = []): NoteState {
  // A key without a value stands in the text alone, so that one to take away may be there although it is not known.
  const isToRemove = (key: string, value: JsonValue) => value === null && key !== 'permalink'
  const changes = Object.fromEntries(
    Object.entries(wanted).filter(
      ([key, value]) => isToRemove(key, value) || !isSame(state.metadata[key] ?? null, value),
    ),
  )
  const isSameText = Object.keys(changes).length === 0 && emptied.length === 0
  if (isSameText) return { ...state, ...stateOf(state.metadata, state.filePath) }
  const parts = splitText(state.content)
  const values = merged(state.metadata, changes)
  const metadata = { ...values, ...Object.fromEntries(emptied.map((key) => [key, null])) }
  const content =
    parts.yaml === null
      ? composeText(metadata, parts.body)
      : replaceYaml(parts, editYaml(parts.yaml, changes, emptied)) + parts.body
  return { ...state, ...stateOf(metadata, state.filePath), content }
}

/** Bounds of what is kept in indexes and shown in lists. */
export function refuseUnfit(state: NoteState, whenTooLong?: 'too_large'): void {
  const { title, noteType, permalink, content } = state
  const problem =
    (isLonger(title, 500) && 'The title has more than 500 characters') ||
    (isLonger(noteType, 200) && 'The type has more than 200 characters') ||
    (permalink !== null &&
      isLonger(permalink, MAX_PERMALINK) &&
      `The permalink has more than ${MAX_PERMALINK} characters`)
  if (problem) throw new AppError('invalid_argument', problem)
  refuseLongText(content, whenTooLong)
}

/** Asked before a text is parsed, too: that of one as long as a request may be takes a while. */
export function refuseLongText(text: string, code: 'too_large' | 'invalid_argument' = 'invalid_argument'): void {
  if (text.length > MAX_CONTENT && splitText(text).body.length > MAX_CONTENT) {
    throw new AppError(code, `The note would have more than ${MAX_CONTENT} characters: split it`)
  }
  if (hasTooManyLines(text)) throw new AppError(code, `The note would have more than ${MAX_LINES} lines: split it`)
}

function stateOf(metadata: Metadata, filePath: string) {
  return {
    filePath,
    title: titleOf(metadata, stemOf(filePath)),
    noteType: typeOf(metadata),
    permalink: permalinkOf(metadata),
    metadata,
  }
}

function merged(metadata: Metadata, changes: MetadataChanges): Metadata {
  if (Object.keys(changes).length === 0) return metadata
  const all = new Map<string, JsonValue>(Object.entries(metadata))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) all.delete(key)
    else all.set(key, value)
  }
  return Object.fromEntries(all)
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function withBody(content: string, body: string): string {
  const parts = splitText(content)
  const isAlike = (parts.body === '') === (body === '')
  if (isAlike || parts.yaml === null) return parts.head + body
  return replaceYaml({ yaml: null, head: '', body }, parts.yaml) + body
}
