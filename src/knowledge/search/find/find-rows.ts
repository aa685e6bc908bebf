import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { hasTags, type Main, mayPassNotes, type SearchFilters, withTagsOf } from '../filter/filters.ts'
import { prepareFilters } from '../filter/passing-notes.ts'
import { type RowKind, rowOf } from '../row-number.ts'
import { findByFilters } from './find-by-filters.ts'
import { findByPermalink } from './find-by-permalink.ts'
import { findByTitle } from './find-by-title.ts'
import { findByTree, NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { notesInTurns } from './notes-in-turns.ts'
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

export interface AskedRows {
  main: Main
  filters: SearchFilters
  page: Page
  /** Whether the total is to be trusted; it is, unless this is false. */
  isCounted?: boolean
}

/** The caller awaits `searchIndex.catchUp()` first. */
export async function findRows(reader: Reader, project: Project, asked: AskedRows): Promise<Found> {
  const { limit, offset } = asked.page
  const { numbers, scores, ...found } = await orderedRows(reader, project, asked)
  const rows = numbers
    .slice(offset, offset + limit)
    .map((number): FoundRow => ({ ...rowOf(number), score: scores.get(number) ?? 0 }))
  return { rows, ...found }
}

function orderedRows(
  reader: Reader,
  project: Project,
  { main, filters, page, isCounted = true }: AskedRows,
): Promise<OrderedRows> | OrderedRows {
  const wanted = page.offset + page.limit
  switch (main.mode) {
    case 'text': {
      const { tree, words, spoken: written } = main.question
      const all = withTagsOf(main.question, filters)
      if (tree !== null) return findByTree(reader, project, { tree, words, written, filters: all, wanted, isCounted })
      return hasTags(main.question) ? findByFilters(reader, project, { filters: all, wanted }) : NO_ROWS
    }
    case 'title':
      if (!mayPassNotes(filters)) return NO_ROWS
      return findByTitle(reader, project, { text: main.text, filters: { ...filters, kinds: ['note'] }, wanted })
    case 'permalink':
    case 'permalink_match':
      return findByPermalink(reader, project, main, filters)
    case 'none':
      return findByFilters(reader, project, { filters, wanted })
  }
}

/** Which of these notes pass the filters that are about notes: not those for kinds and categories of rows. */
export async function filterNotes(
  reader: Reader,
  project: Project,
  noteIds: readonly number[],
  filters: SearchFilters,
): Promise<Set<number>> {
  const { passes } = prepareFilters(filters)
  return new Set((await notesInTurns(reader, project.id, noteIds, passes)).keys())
}
