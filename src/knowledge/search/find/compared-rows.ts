import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import type { Project } from '../../note/note.ts'
import type { SearchFilters } from '../filter/filters.ts'
import type { PreparedFilters } from '../filter/passing-notes.ts'
import { rowOf } from '../row-number.ts'
import type { Candidates } from './candidates.ts'
import { KnownRows } from './known-rows.ts'
import { type MatchingPage, matchingPages } from './matching-pages.ts'
import { noteBatches } from './note-batches.ts'
import { notesInTurns } from './notes-in-turns.ts'
import { newestNotes } from './store-search-notes.ts'

/** What matches an expression, and must be looked at besides. */
export interface ComparedSearch {
  reader: Reader
  project: Project
  expression: string
  filters: SearchFilters
  prepared: PreparedFilters
}

/** How far is looked for rows that pass: a word may be in almost every note. */
export interface CompareLimits {
  /** Rows that are looked at in any case. */
  rows: number
  /** The same while too few of them pass. */
  allRows: number
  /** Notes that are looked at in the order of their changes. */
  notes: number
  /** Of these, notes whose rows are looked up one by one. */
  lookedUp: number
}

export const COMPARE_LIMITS: Record<Engine, CompareLimits> = {
  // The index takes up to milliseconds for a note.
  sqlite: { rows: 5_000, allRows: 50_000, notes: 50_000, lookedUp: 100 },
  // Twice as long for a note as where many are read side by side.
  postgres: { rows: 5_000, allRows: 50_000, notes: 50_000, lookedUp: 500 },
}

/** More rows than are wanted, unless among those that are looked at fewer pass. */
export async function comparedRows(
  search: ComparedSearch,
  wanted: number,
  limits = COMPARE_LIMITS[search.reader.engine],
): Promise<Candidates> {
  const { reader, expression, filters } = search
  const found = new Map<number, Micros>()
  let comparedTo: number | null = null
  for await (const page of matchingPages(reader, expression, limits)) {
    if (filters.after !== undefined && (await isByChange(search, filters.after, page, limits))) {
      return rowsByChange(search, filters.after, page, wanted, limits)
    }
    for (const [number, changedAt] of await passingRows(search, page.numbers)) found.set(number, changedAt)
    if (page.isLast) return { ...candidates(search, found), isExact: true }
    comparedTo = page.numbers.at(-1) ?? null
    if (found.size > wanted) break
  }
  return { ...candidates(search, found), comparedTo }
}

/** Which of these rows pass, and when their notes were changed. */
export async function passingRows(
  { reader, project, prepared }: ComparedSearch,
  numbers: readonly number[],
): Promise<Map<number, Micros>> {
  const noteIds = numbers.map((number) => rowOf(number).noteId)
  const notes = await notesInTurns(reader, project.id, noteIds, prepared.passes)
  return new Map(
    numbers.flatMap((number) => {
      const note = notes.get(rowOf(number).noteId)
      return note === undefined ? [] : [[number, note.updated_at]]
    }),
  )
}

/** Whether to go by the notes that changed since: too many rows match to look at all, or few notes did. */
async function isByChange(
  { reader, project }: ComparedSearch,
  after: Micros,
  { numbers, isLast }: MatchingPage,
  { lookedUp: few }: CompareLimits,
): Promise<boolean> {
  if (!isLast) return true
  if (numbers.length <= few) return false
  return (await newestNotes(reader, project.id, after, null, few + 1)).length <= few
}

async function rowsByChange(
  search: ComparedSearch,
  after: Micros,
  first: MatchingPage,
  wanted: number,
  limits: CompareLimits,
): Promise<Candidates> {
  const { reader, project, expression, prepared } = search
  const known = new KnownRows(reader, expression, first, limits)
  const found = new Map<number, Micros>()
  for await (const { notes, isLast } of noteBatches(reader, project.id, after, limits.notes)) {
    const passing = new Map(notes.filter((note) => prepared.passes(note)).map((note) => [note.id, note.updated_at]))
    for (const number of await known.rowsOf([...passing.keys()])) {
      found.set(number, passing.get(rowOf(number).noteId) as Micros)
    }
    if (isLast) return { ...candidates(search, found), isExact: known.isWhole }
    if (found.size > wanted) break
  }
  return candidates(search, found)
}

/** Of which there may be more. */
function candidates({ filters }: ComparedSearch, found: ReadonlyMap<number, Micros>): Candidates {
  const changedAt = filters.after === undefined ? null : found
  return { numbers: [...found.keys()], isWhole: true, total: found.size, isExact: false, changedAt, comparedTo: null }
}
