import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { MOST_COUNTED } from './candidates.ts'
import type { Main, SearchFilters } from './filters.ts'
import { findByFilters } from './find-by-filters.ts'
import { findPermalink, matchPermalinks } from './find-by-permalink.ts'
import { findByTitle } from './find-by-title.ts'
import { findByTree, NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { prepareFilters } from './passing-notes.ts'
import { type RowKind, rowNumber, rowOf } from './row-number.ts'
import { searchedNotes } from './store-search-notes.ts'
import type { WordStatistics } from './word-statistics.ts'

export interface FoundRow {
  noteId: number
  kind: RowKind
  position: number
  /** The higher the better, at least 0. */
  score: number
}

export interface Found {
  rows: FoundRow[]
  total: number
  /** False: there are at least so many. */
  isExact: boolean
  /** What was learnt about the words. */
  statistics?: WordStatistics | undefined
}

export interface Page {
  limit: number
  offset: number
}

/** The caller awaits `searchIndex.caughtUp()` first. `isCounted`: whether the total is to be trusted. */
export async function findRows(
  reader: Reader,
  project: Project,
  main: Main,
  filters: SearchFilters,
  { limit, offset }: Page,
  isCounted = true,
): Promise<Found> {
  const wanted = offset + limit
  const { numbers, scores, ...found } = await orderedRows(reader, project, main, filters, { wanted, isCounted })
  const rows = numbers
    .slice(offset, offset + limit)
    .map((number): FoundRow => ({ ...rowOf(number), score: scores.get(number) ?? 0 }))
  return { rows, ...found }
}

function orderedRows(
  reader: Reader,
  project: Project,
  main: Main,
  filters: SearchFilters,
  { wanted, isCounted }: { wanted: number; isCounted: boolean },
): Promise<OrderedRows> | OrderedRows {
  switch (main.mode) {
    case 'text': {
      const { tree, words, tags } = main.question
      const all = tags.length === 0 ? filters : { ...filters, tags: [...new Set([...(filters.tags ?? []), ...tags])] }
      if (tree !== null) return findByTree({ reader, project, tree, words, filters: all, wanted, isCounted })
      return tags.length === 0 ? NO_ROWS : findByFilters(reader, project, all, wanted)
    }
    case 'title': {
      const only = onlyNotes(filters)
      return only === null ? NO_ROWS : findByTitle(reader, project, main.text, only)
    }
    case 'permalink':
      return noteRows(reader, project, findPermalink(reader, project, main.text), filters)
    case 'permalink_match':
      return noteRows(reader, project, matchPermalinks(reader, project, main.pattern, MOST_COUNTED + 1), filters)
    case 'none':
      return findByFilters(reader, project, filters, wanted)
  }
}

/** Null: no note can be found. */
function onlyNotes(filters: SearchFilters): SearchFilters | null {
  const { kinds = [], categories = [] } = filters
  const isPossible = categories.length === 0 && (kinds.length === 0 || kinds.includes('note'))
  return isPossible ? { ...filters, kinds: ['note'] } : null
}

/** All that are found fit equally well: they stay in their order, unless the newest are to come first. */
async function noteRows(
  reader: Reader,
  project: Project,
  finding: Promise<number[]>,
  filters: SearchFilters,
): Promise<OrderedRows> {
  const only = onlyNotes(filters)
  if (only === null) return NO_ROWS
  const found = await finding
  const { passes } = prepareFilters(only)
  const notes = await searchedNotes(reader, project.id, found)
  const passing = found.flatMap((id) => {
    const note = notes.get(id)
    return note !== undefined && passes(note) ? [note] : []
  })
  if (filters.after !== undefined) passing.sort((one, other) => other.updated_at - one.updated_at || other.id - one.id)
  const numbers = passing.map(({ id }) => rowNumber('note', id, 0))
  const scores = new Map(numbers.map((number) => [number, 1]))
  const total = Math.min(numbers.length, MOST_COUNTED)
  return { numbers, scores, total, isExact: found.length <= MOST_COUNTED }
}

/** Which of these notes pass the filters that are about notes: not those for kinds and categories of rows. */
export async function filterNotes(
  reader: Reader,
  project: Project,
  noteIds: readonly number[],
  filters: SearchFilters,
): Promise<Set<number>> {
  const { passes } = prepareFilters(filters)
  const notes = await searchedNotes(reader, project.id, noteIds)
  return new Set([...notes.values()].filter(passes).map(({ id }) => id))
}
