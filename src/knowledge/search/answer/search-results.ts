import { toRfc3339 } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import { cutTo } from '../../../platform/text/shortened.ts'
import type { Project } from '../../note/note.ts'
import { firstTags, nameOf, observationDocument, relationDocument } from '../../note/part-document.ts'
import { contentsOf } from '../../note/store-contents.ts'
import { toObservation } from '../../note/store-observations.ts'
import { together } from '../../note/together.ts'
import { NO_CATEGORY } from '../../text/body/observations.ts'
import { splitText } from '../../text/frontmatter/frontmatter.ts'
import { tagsOf } from '../../text/frontmatter/note-metadata.ts'
import { turnAfter } from '../../text/steps.ts'
import { type Hit, hitKey } from '../hit.ts'
import type { Question } from '../question/question.ts'
import type { SearchResult } from '../schema-search.ts'
import { type ChunkPlaces, matchedChunk } from './matched-chunk.ts'
import { beginningOf, type Snippet, snippetsOf } from './snippets.ts'
import {
  type HitNote,
  type HitObservation,
  type HitRelation,
  hitNotes,
  hitObservations,
  hitRelations,
} from './store-search-hits.ts'

export interface ResultOptions {
  /** What to mark in snippets. */
  question: Question | null
  /** Whether `matched_chunk` is told: not where only words were looked for. */
  isByMeaning: boolean
  chunkPlaces(noteIds: readonly number[]): Promise<ReadonlyMap<number, ChunkPlaces>>
}

const SHOWN_CHARACTERS = 10_000
/** Of one text, and of all texts of an answer: a page may be a hundred books. */
const LONGEST_READ = 200_000
const MOST_READ = 3_000_000
const READ_TOGETHER = 20_000
/** Of whole observations, in characters of their notes. */
const MOST_HELD = 1_000_000
/** So much of them is looked into before others have their turn. */
const READ_AT_ONCE = 20_000

/** The rows as the wire shows them, in their order; one that is gone meanwhile is left out. */
export async function searchResults(
  reader: Reader,
  project: Project,
  hits: readonly Hit[],
  options: ResultOptions,
): Promise<SearchResult[]> {
  const of = (kind: Hit['kind']) => hits.filter((hit) => hit.kind === kind)
  const notes = await hitNotes(reader, project.id, [...new Set(hits.map(({ noteId }) => noteId))])
  const results = new Map<number, SearchResult>()
  const breathe = turnAfter(READ_AT_ONCE)
  let left = await addNotes(reader, of('note'), notes, options, results)
  // As many at a time as cannot be long together: an observation is no longer than its note.
  const sized = of('observation').flatMap((hit) => {
    const note = notes.get(hit.noteId)
    return note === undefined ? [] : [{ hit, note, size: note.size }]
  })
  for (const some of together(sized, MOST_HELD)) {
    const rows = await hitObservations(
      reader,
      some.map(({ hit }) => hit),
    )
    const rowAt = new Map(rows.map((row) => [partKey(row.note_id, row.position), row]))
    for (const { hit, note } of some) {
      const row = rowAt.get(partKey(hit.noteId, hit.position))
      if (row === undefined) continue
      const read = Math.min(row.content.length, mostRead(left))
      results.set(hitKey(hit), observationResult(hit, note, row, read, options))
      left -= read
      await breathe(row.content.length)
    }
  }
  const relations = await hitRelations(reader, of('relation'))
  const relationAt = new Map(relations.map((row) => [partKey(row.from_id, row.position), row]))
  for (const hit of of('relation')) {
    const row = relationAt.get(partKey(hit.noteId, hit.position))
    const note = notes.get(hit.noteId)
    if (row !== undefined && note !== undefined) results.set(hitKey(hit), relationResult(hit, note, row, options))
  }
  return hits.flatMap((hit) => results.get(hitKey(hit)) ?? [])
}

/** Of the next text, where so much may still be read. */
function mostRead(left: number): number {
  return left > LONGEST_READ ? LONGEST_READ : SHOWN_CHARACTERS
}

function partKey(noteId: number, position: number): string {
  return `${noteId}/${position}`
}

/** Long texts one after the other, so that never more than one of them is held. Answers how much may be read of others. */
async function addNotes(
  reader: Reader,
  hits: readonly Hit[],
  notes: ReadonlyMap<number, HitNote>,
  options: ResultOptions,
  results: Map<number, SearchResult>,
): Promise<number> {
  const known = hits.filter(({ noteId }) => notes.has(noteId))
  const isShort = ({ noteId }: Hit) => (notes.get(noteId) as HitNote).size <= READ_TOGETHER
  const needPlaces = known.filter((hit) => hit.chunks.length > 0).map(({ noteId }) => noteId)
  const places = needPlaces.length === 0 ? new Map() : await options.chunkPlaces(needPlaces)
  let left = MOST_READ
  const breathe = turnAfter(READ_AT_ONCE)
  const add = (hit: Hit, content: string) => {
    left -= content.length
    results.set(hitKey(hit), noteResult(hit, notes.get(hit.noteId) as HitNote, content, places, options))
    return breathe(content.length)
  }
  const short = known.filter(isShort)
  const texts = await contentsOf(
    reader,
    short.map(({ noteId }) => noteId),
    READ_TOGETHER,
  )
  for (const hit of short) await add(hit, texts.get(hit.noteId) ?? '')
  for (const hit of known) {
    if (isShort(hit)) continue
    await add(hit, (await contentsOf(reader, [hit.noteId], mostRead(left))).get(hit.noteId) ?? '')
  }
  return left
}

function shared(hit: Hit, note: HitNote) {
  return {
    score: hit.score,
    entity: nameOf(note),
    external_id: note.external_id,
    file_path: note.file_path,
    updated_at: toRfc3339(note.updated_at),
    entity_id: note.id,
  }
}

function noteResult(
  hit: Hit,
  note: HitNote,
  content: string,
  places: ReadonlyMap<number, ChunkPlaces>,
  options: ResultOptions,
): SearchResult {
  const { body } = splitText(content)
  const metadata = JSON.parse(note.metadata)
  const chunk = options.isByMeaning ? matchedChunk(content, body, hit.chunks, places.get(note.id) ?? new Map()) : null
  const { title, permalink, file_path: path } = note
  const texts = { title, tags: tagsOf(metadata), permalink, path, content: body }
  return {
    ...shared(hit, note),
    title: note.title,
    type: 'entity',
    permalink: note.permalink,
    content: beginningShown(body),
    matched_chunk: chunk,
    snippets: snippets(texts, chunk, options.question),
    metadata,
  }
}

function beginningShown(text: string, length = SHOWN_CHARACTERS): string {
  return cutTo(text, length)
}

function observationResult(
  hit: Hit,
  note: HitNote,
  row: HitObservation,
  read: number,
  options: ResultOptions,
): SearchResult {
  const observation = observationDocument(note, toObservation(row), row.position)
  const { category, tags, context } = observation
  const content = beginningShown(observation.content)
  return {
    ...shared(hit, note),
    title: note.title,
    type: 'observation',
    permalink: observation.permalink,
    content,
    matched_chunk: options.isByMeaning ? content : null,
    snippets: observationSnippets(
      { ...observation, content: beginningShown(observation.content, read) },
      options.question,
    ),
    metadata: { tags: content === observation.content ? tags : firstTags(tags, SHOWN_CHARACTERS), context },
    observation_id: observation.id,
    category,
  }
}

function relationResult(hit: Hit, note: HitNote, row: HitRelation, options: ResultOptions): SearchResult {
  const { to_id: id, to_title: title, to_path: path, to_external_id: externalId } = row
  const to =
    id === null || title === null || path === null || externalId === null
      ? null
      : { id, title, permalink: row.to_permalink, file_path: path, external_id: externalId }
  const relation = relationDocument({ ...row, direction: 'outgoing', from: note, to })
  const content = withContextInBrackets(`${row.relation_type} ${row.to_name}`, row.context)
  return {
    ...shared(hit, note),
    title: `${note.title} → ${relation.to_name}`,
    type: 'relation',
    permalink: relation.permalink,
    content,
    matched_chunk: options.isByMeaning ? content : null,
    snippets: snippets({ title: '', tags: [], permalink: null, content }, content, options.question),
    metadata: { to_name: row.to_name, context: row.context },
    relation_id: relation.id,
    from_entity: nameOf(note),
    to_entity: relation.to_id,
    relation_type: row.relation_type,
  }
}

/** The category is shown where it has words of the question. */
function observationSnippets(
  { category, content, tags, context }: ReturnType<typeof observationDocument>,
  question: Question | null,
): Snippet[] {
  const said = withContextInBrackets(content, context)
  const texts = { title: '', tags, permalink: null, content: said }
  if (category === NO_CATEGORY) return snippets(texts, content, question)
  const prefix = `[${category}] `
  const all = snippets({ ...texts, content: prefix + said }, content, question)
  const isNamed = all.some(
    ({ text, highlights }) => text.startsWith(prefix) && (highlights[0]?.[0] ?? text.length) < prefix.length,
  )
  return isNamed ? all : snippets(texts, content, question)
}

/** A result that has none of the words is shown by what of it was meant. */
function snippets(texts: Parameters<typeof snippetsOf>[0], meant: string | null, question: Question | null): Snippet[] {
  if (question === null) return []
  const found = snippetsOf(texts, question)
  return found.length > 0 || meant === null ? found : beginningOf(meant)
}

function withContextInBrackets(text: string, context: string | null): string {
  return context === null ? text : `${text} (${context})`
}
