import type { Note } from '../../note/note.ts'
import { NO_CATEGORY } from '../../text/body/observations.ts'
import type { ParsedBody } from '../../text/body/parse-body.ts'
import type { Metadata } from '../../text/frontmatter/metadata.ts'
import { tagsOf } from '../../text/frontmatter/note-metadata.ts'
import { categoryWord, metadataWords } from '../filter/metadata-words.ts'
import { type RowKind, rowNumber } from '../row-number.ts'
import { indexWords } from '../words/search-text.ts'
import { BULKY_PART, bulkyPartWord, bulkyWord, nameWords, ownTypeWord, scopeWords } from './search-scope.ts'

/** What of a note can be searched, besides its row. */
export interface SearchableText {
  /** Without the frontmatter. */
  body: string
  parsed: ParsedBody
  metadata: Metadata
}

/** One row of the index: texts as they were written, by where they stand. */
export interface SearchRow {
  number: number
  title: string
  tags: string
  headings: string
  body: string
  /** Path and permalink: no phrase begins on one line and ends on the next. */
  place: string
  /** Words that narrow a search, a blank between each two. */
  scope: string
}

type NamedNote = Pick<Note, 'id' | 'project_id' | 'title' | 'permalink' | 'file_path' | 'type_key'>

// What filters ask of a note stands in the row of each of its parts as well, so that a search is narrowed by words alone. Where that
// would be more than the longest note has of text, it stands in the note's own row only (find/bulky-notes.ts).
const MOST_REPEATED = 2_000_000

/**
 * The note itself, each observation that differs from those before it, and each relation; by ascending number: SQLite's
 * index ends a run of rows, and begins a new part of its file, when a number is not above the last. Made one by one: a note may have
 * hundreds of thousands.
 */
export function searchRows(note: NamedNote, { body, parsed, metadata }: SearchableText): Iterable<SearchRow> {
  const { observations, links, headings } = parsed
  const ofNote = [ownTypeWord(note.type_key), ...metadataWords(metadata)].join(' ')
  const isBulky = (observations.length + links.length) * ofNote.length > MOST_REPEATED
  const own = noteRow(
    note,
    body,
    headings,
    tagsOf(metadata),
    isBulky ? `${ofNote} ${bulkyWord(note.project_id)}` : ofNote,
  )
  return rowsFrom(note, own, parsed, isBulky ? `${BULKY_PART} ${bulkyPartWord(note.id)}` : ofNote)
}

function* rowsFrom(
  note: NamedNote,
  own: SearchRow,
  { observations, links }: ParsedBody,
  partWords: string,
): Generator<SearchRow> {
  yield own
  const seen = new Set<string>()
  const observationScope = scopeOf(note, 'observation', partWords)
  const relationScope = scopeOf(note, 'relation', partWords)
  for (let position = 0; position < Math.max(observations.length, links.length); position++) {
    const observation = observations[position]
    if (observation !== undefined && isFirst(seen, observation)) {
      const text = withContext(withCategory(observation), observation.context)
      const scope = `${observationScope} ${categoryWord(observation.category)}`
      yield partRow(rowNumber('observation', note.id, position), observation.tags.join(' '), text, scope)
    }
    const link = links[position]
    if (link !== undefined) {
      const text = withContext(`${link.type} ${link.name}`, link.context)
      yield partRow(rowNumber('relation', note.id, position), '', text, relationScope)
    }
  }
}

/** What an observation says, as it is written: behind its category. One that has none does not say the word for that. */
export function withCategory({ category, content }: { category: string; content: string }): string {
  return category === NO_CATEGORY ? content : `${category} ${content}`
}

/** What a note is called, in all ways. */
export function nameText(note: Pick<Note, 'title' | 'permalink' | 'file_path'>): string {
  return `${note.title} ${placeText(note)}`
}

/** The words of a note's place, path and permalink on lines of their own. All paths end in the same three letters, which therefore say nothing. */
export function placeText({ permalink, file_path: path }: Pick<Note, 'permalink' | 'file_path'>): string {
  return `${path.endsWith('.md') ? path.slice(0, -3) : path}\n${permalink ?? ''}`
}

function noteRow(
  note: NamedNote,
  body: string,
  headings: readonly string[],
  tags: readonly string[],
  words: string,
): SearchRow {
  return {
    number: rowNumber('note', note.id, 0),
    title: note.title,
    tags: tags.join(' '),
    headings: headings.join('\n'),
    body,
    place: placeText(note),
    scope: `${scopeOf(note, 'note', words)} ${nameWords(note.project_id, indexWords(nameText(note))).join(' ')}`,
  }
}

function partRow(number: number, tags: string, body: string, scope: string): SearchRow {
  return { number, title: '', tags, headings: '', body, place: '', scope }
}

function scopeOf({ project_id: projectId }: NamedNote, kind: RowKind, words: string): string {
  return `${scopeWords(projectId, kind).join(' ')} ${words}`
}

function isFirst(seen: Set<string>, { category, content }: { category: string; content: string }): boolean {
  const key = `${category}\n${content}`
  if (seen.has(key)) return false
  seen.add(key)
  return true
}

function withContext(text: string, context: string | null): string {
  return context === null ? text : `${text} ${context}`
}
