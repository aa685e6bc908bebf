import { hash } from 'node:crypto'
import { toRfc3339 } from '../../../platform/clock/clock.ts'
import type { Note } from '../../note/note.ts'
import type { RowKind } from '../../search/row-number.ts'
import { type ParsedBody, type ParsedLink, type ParsedObservation, parsingBody } from '../../text/body/parse-body.ts'
import { splitText } from '../../text/frontmatter/frontmatter.ts'
import { atOnce, type Steps } from '../../text/steps.ts'
import type { Chunk } from './chunk.ts'
import { piecesOf } from './pieces.ts'

export type { Chunk } from './chunk.ts'

/** Another way of making chunks gets the next number; then all notes are embedded anew. */
export const CHUNK_FORMAT = 1

// The text of a note is embedded wholly; of its parts only so many have vectors of their own.
const MOST_PARTS = 500
const LONGEST_PART = 900
const LONGEST_TITLE = 200
const INLINE = 'links_to'

export type ChunkedNote = Pick<Note, 'title' | 'created_at'>

/** The parts of a note that are embedded, each with what it needs to be understood alone. In linear time; at least one. */
export function chunkNote(note: ChunkedNote, content: string): Chunk[] {
  return atOnce(chunkingNote(note, content))
}

/** The same, which can be left alone from time to time. */
export function* chunkingNote(note: ChunkedNote, content: string): Steps<Chunk[]> {
  const { head, body } = splitText(content)
  const heading = headingOf(note)
  const chunks: Chunk[] = []
  for (const { start, end, headings } of yield* piecesOf(body)) {
    const path = headings.length === 0 ? '' : `\n${headings.join(' > ')}`
    const text = `${heading}${path}\n\n${body.slice(start, end)}`
    const place = { start: head.length + start, end: head.length + end }
    chunks.push(chunkOf({ kind: 'note', position: 0, number: chunks.length, text, ...place }))
    yield
  }
  if (chunks.length === 0) {
    const place = { start: head.length, end: head.length }
    chunks.push(chunkOf({ kind: 'note', position: 0, number: 0, text: heading, ...place }))
  }
  return mayHaveParts(body) ? [...chunks, ...partsOf(heading, yield* parsingBody(body))] : chunks
}

/** Without one of these there is neither an observation nor a link, and nothing has to be parsed. */
function mayHaveParts(body: string): boolean {
  return body.includes('[') || body.includes('#')
}

function partsOf(heading: string, { observations, links }: ParsedBody): Chunk[] {
  const chunks: Chunk[] = []
  const seen = new Set<string>()
  const add = (kind: RowKind, position: number, text: string) => {
    if (chunks.length >= MOST_PARTS) return
    chunks.push(chunkOf({ kind, position, number: 0, text: partText(heading, text), start: 0, end: 0 }))
  }
  for (const [position, observation] of observations.entries()) {
    const text = observationText(observation)
    // As in the index of words: one that says the same as one before it has no row.
    if (!seen.has(text)) add('observation', position, text)
    seen.add(text)
  }
  for (const [position, link] of links.entries()) {
    // A link in the middle of a sentence says nothing that the sentence does not say.
    if (link.type !== INLINE || link.context !== null) add('relation', position, relationText(link))
  }
  return chunks
}

/** `hash` of the chunk that an observation is, by what is stored of it. */
export function observationHash(note: ChunkedNote, observation: Omit<ParsedObservation, 'tags'>): string {
  return hashOf(partText(headingOf(note), observationText(observation)).toWellFormed())
}

/** The same for a relation. */
export function relationHash(note: ChunkedNote, relation: Pick<ParsedLink, 'type' | 'name' | 'context'>): string {
  return hashOf(partText(headingOf(note), relationText(relation)).toWellFormed())
}

function headingOf(note: ChunkedNote): string {
  return `${note.title.slice(0, LONGEST_TITLE)}\n${dateOf(note)}`
}

function partText(heading: string, text: string): string {
  return `${heading}\n\n${text.slice(0, LONGEST_PART)}`
}

function observationText({ category, content, context }: Omit<ParsedObservation, 'tags'>): string {
  return `${category}: ${content}${context === null ? '' : ` (${context})`}`
}

function relationText({ type, name, context }: Pick<ParsedLink, 'type' | 'name' | 'context'>): string {
  return `${type.replaceAll('_', ' ')} ${name}${context === null ? '' : ` (${context})`}`
}

function chunkOf(part: Omit<Chunk, 'hash'>): Chunk {
  const text = part.text.toWellFormed()
  return { ...part, text, hash: hashOf(text) }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** As people write it, so that a question about a month finds it. */
function dateOf({ created_at: createdAt }: ChunkedNote): string {
  const [year = '', month = '', day = ''] = toRfc3339(createdAt).slice(0, 10).split('-')
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year}`
}
