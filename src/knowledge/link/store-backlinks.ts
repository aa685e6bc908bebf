import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { NoteRef, Project } from '../note/note.ts'
import { cutColumn } from '../note/store-shown.ts'
import { KIND_WORDS, projectWord } from '../search/index/search-scope.ts'
import { matchingInOrder } from '../search/index/store-search-index.ts'
import { scopeMark } from '../search/index/text-vector.ts'
import { rowNumber } from '../search/row-number.ts'
import { indexWords, queryWords } from '../search/words/search-text.ts'
import { INLINE } from '../text/body/parse-body.ts'
import { normalForm } from '../text/normal-form.ts'
import { lowerInPlace } from './snippet.ts'
import '../tables.ts'

export interface BacklinkRow extends NoteRef {
  position: number
  relation_type: string
  to_name: string
  context: string | null
  anchor: string | null
  display: string | null
  /** The text around the first link of that type, else of that name; any without one when it is written in another way there. */
  around: string
}

const NOTE_COLUMNS = sql.raw('n.id, n.external_id, n.title, n.permalink, n.file_path')

// Cut out by the database: the texts themselves may be large.
const BEFORE = 400
const LENGTH = 2000

// So much of the end of a type is looked for: it may be as long as a text, and each place of the text is compared with all of it.
const OF_TYPE = 100

const FENCE = '---'

/** What may follow a name in a link; anything else, and it is the beginning of another name. In a table the bar is `\|`. */
export const LINK_ENDS = [']]', '|', '\\|', ' ]]', ' |'] as const

/** What stands between a type and its link: a type of several words is quoted. */
export const TYPE_ENDS = [' ', '" ', "' "] as const

interface BacklinksInput {
  noteId: number
  fromId: number
  position: number
  limit: number
  offset: number
}

const pageOfBacklinks = statement<BacklinksInput, BacklinkRow>((_query, p, engine) => {
  const isSqlite = engine === 'sqlite'
  const find = sql.raw(isSqlite ? 'instr' : 'strpos')
  const greatest = sql.raw(isSqlite ? 'max' : 'greatest')
  // Most texts are looked through once: whatever a link ends with, it begins so.
  const firstLink = (before: RawBuilder<string>) => {
    const placeOf = (end: string) => sql`${find}(body, ${before} || '[[' || to_name || ${sql.lit(end)})`
    const places = sql.join(LINK_ENDS.map((end) => sql`nullif(${placeOf(end)}, 0)`))
    return sql`case when ${placeOf('')} > 0 then coalesce(${places}) + length(${before}) end`
  }
  const typeEnd = sql`substr(relation_type, ${greatest}(1, length(relation_type) - ${sql.lit(OF_TYPE - 1)}))`
  const ofType = TYPE_ENDS.map((end) => firstLink(sql<string>`${typeEnd} || ${sql.lit(end)}`))
  const firstOfType = sql`case when relation_type <> ${sql.lit(INLINE)} then coalesce(${sql.join(ofType)}) end`
  const at = sql`coalesce(${firstOfType}, ${firstLink(sql<string>`''`)})`
  return sql`
      with linking as materialized (
        select ${NOTE_COLUMNS}, r.position, r.relation_type, r.to_name, r.context, r.anchor, r.display,
          ${bodyWith(find)} as body
        from (
          select from_id, position from relations
          where to_id = ${p('noteId')} and from_id <> ${p('noteId')} and is_repeat = 0
            and (from_id, position) > (${p('fromId')}, ${p('position')})
          order by from_id, position limit ${p('limit')} offset ${p('offset')}
        ) page
        join relations r on r.from_id = page.from_id and r.position = page.position
        join notes n on n.id = r.from_id
        join note_contents c on c.note_id = r.from_id
      )
      select id, external_id, title, permalink, file_path, position, to_name, anchor,
        ${cutColumn('relation_type')} as relation_type, ${cutColumn('context')} as context, ${cutColumn('display')} as display,
        coalesce(substr(body, ${greatest}(1, ${at} - ${sql.lit(BEFORE)}), ${sql.lit(LENGTH)}), '') as around
      from linking order by id, position`
})

/** Links of the frontmatter, as those of its property `up`, are no relations. */
function bodyWith(find: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case when substr(c.content, 1, ${sql.lit(FENCE.length)}) = ${sql.lit(FENCE)}
    then substr(c.content, ${find}(c.content, ${sql.lit(`\n${FENCE}`)}) + ${sql.lit(FENCE.length + 1)}) else c.content end`
}

// SQLite looks through the texts while everything else waits, and each may be large.
const ROWS_AT_ONCE = 4

/** Links to the note in other notes, oldest notes first. */
export async function findBacklinks(
  reader: Reader,
  noteId: number,
  limit: number,
  offset: number,
): Promise<BacklinkRow[]> {
  const atOnce = reader.engine === 'sqlite' ? ROWS_AT_ONCE : limit
  const rows: BacklinkRow[] = []
  for (;;) {
    const last = rows.at(-1)
    const some = await reader.run(pageOfBacklinks, {
      noteId,
      fromId: last?.id ?? 0,
      position: last?.position ?? -1,
      limit: Math.min(atOnce, limit - rows.length),
      offset: last === undefined ? offset : 0,
    })
    rows.push(...some)
    if (some.length < atOnce || rows.length === limit) return rows
    await nextTurn()
  }
}

const LOOKED_AT = 500
const ROWS_PER_NOTE = rowNumber('note', 1, 0)

interface MentionInput {
  noteId: number
  projectId: number
}

const mentioningOnSqlite = statement<MentionInput & { question: string }, { id: number }>(
  (_query, p) => sql`
    select n.id from (
      select rowid / ${sql.lit(ROWS_PER_NOTE)} as note_id from note_search
      where note_search match ${p('question')} order by rowid limit ${sql.lit(LOOKED_AT)}
    ) found
    join notes n on n.id = found.note_id
    where ${isUnlinked(p('projectId'), p('noteId'))} order by n.id`,
)

function isUnlinked(projectId: unknown, noteId: unknown): RawBuilder<boolean> {
  return sql`n.project_id = ${projectId} and n.id <> ${noteId} and not exists (
      select 1 from relations r where r.to_id = ${noteId} and r.from_id = n.id)`
}

/** Notes that have the words of the text one after the other and no link to the note: candidates, oldest first. */
export async function findMentioning(
  reader: Reader,
  project: Project,
  noteId: number,
  text: string,
): Promise<number[]> {
  const words = queryWords(text)
  if (words.length === 0) return []
  const question = mentionQuestion(reader.engine, [projectWord(project.id), KIND_WORDS.note], text, words)
  const input = { noteId, projectId: project.id }
  const rows =
    reader.engine === 'sqlite'
      ? await reader.run(mentioningOnSqlite, { question, ...input })
      : (await mentioningOnPostgres(question, input, text).execute(reader.query)).rows
  return rows.map(({ id }) => id)
}

// Fewer, as their texts were looked through already.
const FOUND_ON_POSTGRES = 40
// In bytes; a longer text is taken for one that has the words.
const LONGEST_LOOKED_THROUGH = 200_000

/**
 * The index of PostgreSQL does not tell the body from the path, and all notes of a folder have the words of a note that is called like it.
 * So the bodies are looked through, one by one, no further than the limit.
 */
function mentioningOnPostgres(question: string, { noteId, projectId }: MentionInput, text: string) {
  return sql<{ id: number }>`
    select found.id from (
      select id / ${sql.lit(ROWS_PER_NOTE)} as id
      from (${matchingInOrder(question, LOOKED_AT, { isOldest: true })}) matching offset 0
    ) found
    where (
      select ${isUnlinked(projectId, noteId)} and (octet_length(c.content) > ${sql.lit(LONGEST_LOOKED_THROUGH)}
        or (${bodyWith(sql.raw('strpos'))}) collate "C" ~ ${inAnyCase(text)})
      from notes n join note_contents c on c.note_id = n.id where n.id = found.id
    ) limit ${sql.lit(FOUND_ON_POSTGRES)}`
}

// What else than its capital is taken for a letter, as `findPhrase` does; which sigma it is depends on where it stands.
const MORE_SPELLINGS: Readonly<Record<string, string>> = {
  i: 'İ',
  k: '\u212a',
  å: '\u212b',
  ß: 'ẞ',
  ǆ: 'ǅ',
  ǉ: 'ǈ',
  ǌ: 'ǋ',
  ǳ: 'ǲ',
  θ: 'ϴ',
  σ: 'ς',
  ς: 'σ',
  ω: '\u2126',
}
// So much of a title tells it from most others.
const LONGEST_PATTERN = 50
// As JavaScript knows them: to PostgreSQL, some are none.
const BLANKS = String.raw`[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+`

/** A pattern for the title, each letter in every Unicode form, in upper and lower case: what these are to PostgreSQL depends on the database. */
function inAnyCase(title: string): string {
  const letters = Array.from(lowerInPlace(normalForm(title, 'NFC').trim().replaceAll(/\s+/g, ' ')))
  return letters.slice(0, LONGEST_PATTERN).map(patternOf).join('')
}

function patternOf(letter: string): string {
  if (letter === ' ') return BLANKS
  const others = (letter.toUpperCase() + (MORE_SPELLINGS[letter] ?? '')).replaceAll(letter, '')
  const single = others === '' ? escaped(letter) : `[${letter}${others}]`
  const longer = Array.from(letter + others).flatMap(decompositions)
  return longer.length === 0 ? single : `(?:${[single, ...longer].join('|')})`
}

function escaped(letter: string): string {
  return /[\w\u0080-\u{10ffff}]/u.test(letter) ? letter : `\\${letter}`
}

/** All that is the same letter in several characters: a part of its marks may be composed, and their order may be another. */
function decompositions(letter: string): string[] {
  const [base = '', ...marks] = Array.from(letter.normalize('NFD'))
  const spellings = new Set<string>()
  for (const order of ordersOf(marks)) {
    for (let composed = 0; composed < marks.length; composed++) {
      const head = (base + order.slice(0, composed).join('')).normalize('NFC')
      const text = head + order.slice(composed).join('')
      if (text.normalize('NFC') === letter) spellings.add(escaped(head) + order.slice(composed).join(''))
    }
  }
  return [...spellings]
}

/** No letter has more than three. */
function ordersOf(marks: readonly string[]): string[][] {
  if (marks.length < 2) return [[...marks]]
  return marks.flatMap((mark, at) => ordersOf(marks.toSpliced(at, 1)).map((rest) => [mark, ...rest]))
}

/**
 * The words in their order; in scripts without blanks, where other words stand between them in the index, in any order. SQLite
 * reads all places of a word each time that it is asked for, while everything else waits: it is asked for each once.
 */
function mentionQuestion(engine: Engine, scope: readonly string[], text: string, words: readonly string[]): string {
  const isPhrase = indexWords(text).length === words.length
  if (engine === 'sqlite') {
    const found = isPhrase
      ? `"${longestWithoutRepeat(words).join(' ')}"`
      : `(${[...new Set(words)].map((word) => `"${word}" *`).join(' AND ')})`
    return `body : ${found} AND scope : (${scope.join(' AND ')})`
  }
  const found = isPhrase
    ? words.map((word) => `'${word}'`).join(' <-> ')
    : words.map((word) => `'${word}':*`).join(' & ')
  return [...scope.map((word) => `'${scopeMark(word)}'`), `(${found})`].join(' & ')
}

/** Of the words that follow each other as many as there are with none among them twice. */
function longestWithoutRepeat(words: readonly string[]): readonly string[] {
  const lastAt = new Map<string, number>()
  let longest: readonly string[] = []
  let start = 0
  for (const [at, word] of words.entries()) {
    start = Math.max(start, (lastAt.get(word) ?? -1) + 1)
    lastAt.set(word, at)
    if (at + 1 - start > longest.length) longest = words.slice(start, at + 1)
  }
  return longest
}
