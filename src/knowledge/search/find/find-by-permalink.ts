import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { permalinkPrefixes, withPrefixes } from '../../project/permalink-prefixes.ts'
import { starGlob } from '../../text/name/glob.ts'
import { permalinkPatterns } from '../../text/name/permalink-patterns.ts'
import type { Main, SearchFilters } from '../filter/filters.ts'
import { type PreparedFilters, prepareFilters } from '../filter/passing-notes.ts'
import { rowNumber, rowOf } from '../row-number.ts'
import { unicodeForms } from '../words/unicode-forms.ts'
import { MOST_COUNTED } from './candidates.ts'
import { bestFirst, NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { type FoundParts, findParts, matchParts, type PartSearch } from './find-parts.ts'
import { notesInTurns } from './notes-in-turns.ts'
import { permalinkPages } from './permalink-pages.ts'
import { idOfPermalink } from './store-search-notes.ts'

type ByPermalink = Extract<Main, { mode: 'permalink' | 'permalink_match' }>

/**
 * Notes and their parts by what they are called. All fit equally well: notes come first, by their permalinks, then parts by those of
 * their notes; unless the newest are to come first.
 */
export async function findByPermalink(
  reader: Reader,
  project: Project,
  main: ByPermalink,
  filters: SearchFilters,
): Promise<OrderedRows> {
  const prepared = prepareFilters(filters)
  if (prepared.kinds === null) return NO_ROWS
  const notes = prepared.kinds.has('note') ? await noteRows(reader, project, main, prepared) : NOTHING
  const parts = await partRows(reader, project, main, filters, prepared)
  const numbers = [...notes.numbers, ...parts.numbers]
  const scores = new Map(numbers.map((number) => [number, 1]))
  const isOrdered = filters.after === undefined
  return {
    numbers: isOrdered ? numbers : bestFirst(numbers, scores, await changeTimes(reader, project, numbers)),
    scores,
    total: Math.min(numbers.length, MOST_COUNTED),
    isExact: notes.isWhole && parts.isWhole && numbers.length <= MOST_COUNTED,
  }
}

const NOTHING: FoundParts = { numbers: [], isWhole: true }

async function noteRows(
  reader: Reader,
  project: Project,
  main: ByPermalink,
  { passes }: PreparedFilters,
): Promise<FoundParts> {
  const found =
    main.mode === 'permalink'
      ? await findPermalink(reader, project, main.text)
      : await matchPermalinks(reader, project, main.pattern, MOST_COUNTED + 1)
  const passing = await notesInTurns(reader, project.id, found, passes)
  const numbers = found.filter((id) => passing.has(id)).map((id) => rowNumber('note', id, 0))
  return { numbers, isWhole: found.length <= MOST_COUNTED }
}

async function partRows(
  reader: Reader,
  project: Project,
  main: ByPermalink,
  { categories = [] }: SearchFilters,
  { kinds, passes }: PreparedFilters,
): Promise<FoundParts> {
  if (kinds === null || !(kinds.has('observation') || kinds.has('relation'))) return NOTHING
  const search: PartSearch = { reader, project, kinds, categories, passes, limit: MOST_COUNTED + 1 }
  if (main.mode === 'permalink') {
    for (const text of readingsOf(project, main.text)) {
      const numbers = await findParts(search, text)
      if (numbers.length > 0) return { numbers, isWhole: true }
    }
    return NOTHING
  }
  const found = new Set<number>()
  let isWhole = true
  for (const pattern of permalinkPatterns(permalinkPrefixes(project), main.pattern)) {
    const more = await matchParts(search, pattern)
    for (const number of more.numbers) found.add(number)
    isWhole &&= more.isWhole
  }
  return { numbers: [...found], isWhole }
}

async function changeTimes(reader: Reader, project: Project, numbers: readonly number[]): Promise<Map<number, number>> {
  const rows = numbers.map((number) => ({ number, noteId: rowOf(number).noteId }))
  const noteIds = rows.map(({ noteId }) => noteId)
  const notes = await notesInTurns(reader, project.id, noteIds, () => true)
  return new Map(rows.map(({ number, noteId }) => [number, notes.get(noteId)?.updated_at ?? 0]))
}

/** A permalink as it was asked for, and in its other Unicode forms: names of files come decomposed from a Mac. */
function readingsOf(project: Project, permalink: string): string[] {
  const forms = new Set([permalink, ...unicodeForms(permalink)])
  return [...forms].flatMap((form) => withPrefixes(project, form))
}

/** The note that is called exactly so; the project in front may be left out. */
async function findPermalink(reader: Reader, project: Project, permalink: string): Promise<number[]> {
  for (const one of readingsOf(project, permalink)) {
    const id = await idOfPermalink(reader, project.id, one)
    if (id !== undefined) return [id]
  }
  return []
}

/** Notes by a pattern in which `*` is any text, in the order of their permalinks; no more than the limit. */
async function matchPermalinks(reader: Reader, project: Project, pattern: string, limit: number): Promise<number[]> {
  const found = new Set<number>()
  for (const asked of permalinkPatterns(permalinkPrefixes(project), pattern)) {
    for (const id of await matching(reader, project.id, asked, limit)) found.add(id)
  }
  return [...found].slice(0, limit)
}

/** Only permalinks that begin like the pattern are read, and of these only those with its longest piece are compared. */
async function matching(reader: Reader, projectId: number, pattern: string, limit: number): Promise<number[]> {
  const pieces = pattern.split('*')
  const begin = pieces[0] ?? ''
  const part = pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')
  const isWanted = starGlob(pattern)
  const found: number[] = []
  for await (const rows of permalinkPages(reader, projectId, begin, part)) {
    for (const { id, permalink } of rows) if (isWanted(permalink)) found.push(id)
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}
