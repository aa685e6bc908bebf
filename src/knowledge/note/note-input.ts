import { AppError } from '../../platform/errors/app-error.ts'
import type { KnowledgeSettings } from '../settings.ts'
import { type ParsedBody, readBody } from '../text/body/parse-body.ts'
import { trimBlankLines } from '../text/body/trim-blank-lines.ts'
import { cleanText } from '../text/clean-text.ts'
import { cleanMetadata } from '../text/frontmatter/clean-metadata.ts'
import { parseYaml, splitText } from '../text/frontmatter/frontmatter.ts'
import type { Metadata } from '../text/frontmatter/metadata.ts'
import { canonicalType, ownTypeOf, permalinkOf } from '../text/frontmatter/note-metadata.ts'
import { cleanDirectory, fileNameFor, joinPath } from '../text/name/path.ts'

/** In UTF-16 units, below the frontmatter. A book has about a million; parsing it takes a tenth of a second. */
export const MAX_CONTENT = 2_000_000
/** What it takes to parse a text, to compare it and to find places in it goes by its lines as well. */
export const MAX_LINES = 250_000

/** What a caller wants a note to be. */
export interface NoteInput {
  title: string
  directory: string
  content: string | null
  /** Null when the caller did not say. */
  noteType: string | null
  metadata: Metadata | null
}

/** The same, read and judged, before anybody looked into the database. */
export interface PreparedNote {
  title: string
  filePath: string
  /** As it will stand in the frontmatter; null when neither the text nor the caller says. */
  noteType: string | null
  /** A permalink that the text asks for. */
  permalink: string | null
  /** Frontmatter beside title, type and permalink; a key that is null stands there without a value. */
  metadata: Metadata
  /** Keys to take away. */
  removed: readonly string[]
  /** The frontmatter as it was sent; null without one. */
  sentYaml: string | null
  body: string
  /** The same with the blank lines around it, as it was sent. */
  sentBody: string
  parsed: ParsedBody
}

const OWN_KEYS = new Set(['title', 'type', 'permalink'])

export async function prepareNote(input: NoteInput, settings: KnowledgeSettings): Promise<PreparedNote> {
  const directory = cleanDirectory(input.directory, 'directory')
  const title = cleanText(input.title).trim()
  const filePath = joinPath(directory, fileNameFor(title, settings.kebab_filenames))
  const content = cleanText(input.content ?? '')
  const { yaml, body } = splitText(content)
  refuseLongContent(content, body)
  const own = yaml === null ? {} : parseYaml(yaml)
  const sentBody = yaml === null ? content : body
  const ownBody = yaml === null ? content : trimBlankLines(body)
  const given = without(cleanMetadata(input.metadata ?? {}), OWN_KEYS)
  const removed = Object.keys(given).filter((key) => given[key] === null)
  return {
    title,
    filePath,
    noteType: ownTypeOf(own) ?? (canonicalType(cleanText(input.noteType ?? '')) || null),
    permalink: permalinkOf(own),
    metadata: without({ ...own, ...given }, removed.length === 0 ? OWN_KEYS : new Set([...OWN_KEYS, ...removed])),
    removed,
    sentYaml: yaml,
    body: ownBody,
    sentBody,
    parsed: await readBody(ownBody),
  }
}

function refuseLongContent(content: string, body: string): void {
  if (body.length > MAX_CONTENT) {
    throw new AppError(
      'too_large',
      `The content has ${body.length} characters, more than the ${MAX_CONTENT} that a note may have: split it`,
    )
  }
  if (hasTooManyLines(content)) {
    throw new AppError('too_large', `The content has more than the ${MAX_LINES} lines that a note may have: split it`)
  }
}

export function hasTooManyLines(text: string): boolean {
  if (text.length <= MAX_LINES) return false
  let lines = 1
  for (let at = 0; at < text.length && lines <= MAX_LINES; at++) {
    const code = text.charCodeAt(at)
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) lines++
  }
  return lines > MAX_LINES
}

function without(metadata: Metadata, keys: ReadonlySet<string>): Metadata {
  if (!Object.keys(metadata).some((key) => keys.has(key))) return metadata
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !keys.has(key)))
}
