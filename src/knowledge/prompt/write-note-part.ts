import { cutTo } from '../../platform/text/shortened.ts'
import type { ContextResult } from '../context/build-context.ts'
import type { EntityItem, ObservationItem, RelationItem } from '../context/context-item.ts'
import { excerptAround } from '../search/answer/excerpt.ts'
import { type ChunkPlaces, matchedChunk } from '../search/answer/matched-chunk.ts'
import type { HitChunk } from '../search/hit.ts'
import type { WantedWords } from '../search/words/wanted-words.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { asCode, oneLine, quoted } from './quote.ts'

const LONGEST_NAME = 300
export const LONGEST_EXCERPT = 2_000
const LONGEST_FACT = 400
const MOST_FACTS = 20

/** What the excerpt of a note is chosen by. */
export interface Sought {
  /** It is taken from around these words. */
  wanted: WantedWords | null
  /** By note: where none of them stands in it, from the chunks that are near in meaning. */
  near: ReadonlyMap<number, NearChunks>
}

export interface NearChunks {
  /** Best first. */
  chunks: readonly HitChunk[]
  places: ChunkPlaces
}

/** What a prompt says of one note. Whatever somebody wrote is quoted, its title as well. */
export function notePart(
  number: number,
  { primary_result: note, observations, related_results: related }: ContextResult,
  sought: Sought,
): string {
  if (note.type !== 'entity') return ''
  const relations = related.filter((item) => item.type === 'relation')
  const others = related.filter((item) => item.type === 'entity')
  return [
    `## Note ${number}`,
    [`- External id: \`${note.external_id}\``, `- Changed ${note.updated_at}, created ${note.created_at}`].join('\n'),
    quoted(
      [
        `- Title: ${oneLine(note.title, LONGEST_NAME)}`,
        `- Permalink: ${asCode(note.permalink ?? note.file_path, LONGEST_NAME)}`,
        `- File: ${asCode(note.file_path, LONGEST_NAME)}, type ${asCode(note.note_type, LONGEST_NAME)}`,
      ].join('\n'),
    ),
    ...excerpt(note, sought),
    ...list('Facts it states', observations.map(factLine)),
    ...list('How it is related', relations.map(relationLine)),
    ...list('Notes nearby', others.map(otherLine)),
  ].join('\n\n')
}

function excerpt(note: EntityItem, sought: Sought): string[] {
  const body = splitText(note.content ?? '').body.trim()
  if (body === '') return ['The note has no text.']
  const part = body.length <= LONGEST_EXCERPT ? body : partOf(note, body, sought)
  const isCut = part.length < body.length
  return [isCut ? 'From its text (there is more):' : 'Its text:', quoted(part.trimEnd())]
}

function partOf({ entity_id: noteId, content }: EntityItem, body: string, { wanted, near }: Sought): string {
  const places = wanted?.placesIn(body) ?? []
  if (places.length > 0) return excerptAround(body, places, LONGEST_EXCERPT)
  const nearest = near.get(noteId)
  const part = nearest === undefined ? body : matchedChunk(content ?? '', body, nearest.chunks, nearest.places)
  return cutTo(part, LONGEST_EXCERPT)
}

function list(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  const left = lines.length - MOST_FACTS
  const more = left > 0 ? [`${left} more of these are in the note.`] : []
  return [`${heading}:`, quoted(lines.slice(0, MOST_FACTS).join('\n')), ...more]
}

function factLine({ category, content, context }: ObservationItem): string {
  const where = context === null ? '' : ` (${oneLine(context, LONGEST_NAME)})`
  return `- [${oneLine(category, LONGEST_NAME)}] ${oneLine(content, LONGEST_FACT)}${where}`
}

function relationLine({ from_entity: from, relation_type: type, to_entity: to, to_name: name }: RelationItem): string {
  const target = to === null ? `${asCode(name, LONGEST_NAME)}, which is no note yet` : asCode(to, LONGEST_NAME)
  return `- ${asCode(from, LONGEST_NAME)} ${oneLine(type, LONGEST_NAME)} ${target}`
}

function otherLine({ title, permalink, file_path: path, updated_at: changedAt }: EntityItem): string {
  return `- ${oneLine(title, LONGEST_NAME)}: ${asCode(permalink ?? path, LONGEST_NAME)}, changed ${changedAt}`
}
