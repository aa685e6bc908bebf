import type { ContextResult } from '../context/build-context.ts'
import type { EntityItem, ObservationItem, RelationItem } from '../context/context-item.ts'
import { excerptOf } from '../search/answer/excerpt.ts'
import type { WantedWords } from '../search/words/wanted-words.ts'
import { splitText } from '../text/frontmatter.ts'
import { asCode, oneLine, quoted } from './quote.ts'

const LONGEST_NAME = 300
export const LONGEST_EXCERPT = 2_000
const LONGEST_FACT = 400
const MOST_FACTS = 20

/** What a prompt says of one note. `wanted`: the excerpt is taken from around these words. */
export function notePart(
  number: number,
  { primary_result: note, observations, related_results: related }: ContextResult,
  wanted: WantedWords | null,
): string {
  if (note.type !== 'entity') return ''
  const relations = related.filter((item) => item.type === 'relation')
  const others = related.filter((item) => item.type === 'entity')
  return [
    `## ${number}. ${oneLine(note.title, LONGEST_NAME)}`,
    [
      `- Permalink: ${asCode(note.permalink ?? note.file_path, LONGEST_NAME)}`,
      `- External id: \`${note.external_id}\``,
      `- File: ${asCode(note.file_path, LONGEST_NAME)}, type ${asCode(note.note_type, LONGEST_NAME)}`,
      `- Changed ${note.updated_at}, created ${note.created_at}`,
    ].join('\n'),
    ...excerpt(note, wanted),
    ...list('Facts it states', observations.map(factLine)),
    ...list('How it is related', relations.map(relationLine)),
    ...list('Notes nearby', others.map(otherLine)),
  ].join('\n\n')
}

function excerpt({ content }: EntityItem, wanted: WantedWords | null): string[] {
  const body = splitText(content ?? '').body.trim()
  if (body === '') return ['The note has no text.']
  const part =
    wanted === null ? body.slice(0, LONGEST_EXCERPT).toWellFormed() : excerptOf(body, wanted, LONGEST_EXCERPT)
  const isCut = part.length < body.length
  return [isCut ? 'From its text (there is more):' : 'Its text:', quoted(part.trimEnd())]
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
