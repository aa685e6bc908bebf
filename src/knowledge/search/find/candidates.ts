import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import type { SearchFilters } from '../filter/filters.ts'
import type { PreparedFilters } from '../filter/passing-notes.ts'
import { countRows, matchingRows, matchingRowsOf } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'
import { newestNotes, searchedNotes } from './store-search-notes.ts'

/** Rows that match, before they are in their order. */
export interface Candidates {
  /** Those of the newest notes first. */
  numbers: number[]
  /** Whether these are all of them. */
  isWhole: boolean
  total: number
  isExact: boolean
  /** When the order is by time: that of each. */
  changedAt: ReadonlyMap<number, number> | null
}

/** Rows beyond these are not counted. */
export const MOST_COUNTED = 10_000
/** Of more rows than this only some are ranked: the newest, and those that promise most. */
export const MOST_RANKED = 1_000
/** The same where others are found by meaning besides. */
export const FEW_RANKED = 500
// Rows whose notes are looked at when words alone cannot tell whether they pass.
const MOST_COMPARED = 5_000
// So few notes are looked at one by one, when everything that has a common word would have to be read instead.
const FEW_RECENT_NOTES = 100

/** One more than `most`, where there are more. `isCounted`: somebody wants to know how many there are. */
export async function newestRows(
  reader: Reader,
  expression: string,
  most: number,
  isCounted: boolean,
): Promise<Candidates> {
  const numbers = await matchingRows(reader, expression, most + 1)
  const isWhole = numbers.length <= most
  const total = isWhole || !isCounted ? numbers.length : await countRows(reader, expression, MOST_COUNTED + 1)
  const isExact = isWhole || (isCounted && total <= MOST_COUNTED)
  return { numbers, isWhole, total: Math.min(total, MOST_COUNTED), isExact, changedAt: null }
}

/** The same where each row has to be looked at besides. */
export async function comparedRows(
  reader: Reader,
  project: Project,
  expression: string,
  { after }: SearchFilters,
  { passes }: PreparedFilters,
): Promise<Candidates> {
  const { numbers, isExact } = await rowsToCompare(reader, project, expression, after)
  const notes = await searchedNotes(reader, project.id, numbers.map(noteIdOf))
  const passing = numbers.filter((number) => {
    const note = notes.get(noteIdOf(number))
    return note !== undefined && passes(note)
  })
  const changedAt =
    after === undefined
      ? null
      : new Map(passing.map((number) => [number, notes.get(noteIdOf(number))?.updated_at ?? 0]))
  return { numbers: passing, isWhole: true, total: passing.length, isExact, changedAt }
}

async function rowsToCompare(
  reader: Reader,
  project: Project,
  expression: string,
  after: number | undefined,
): Promise<{ numbers: number[]; isExact: boolean }> {
  const some = await matchingRows(reader, expression, MOST_RANKED + 1)
  if (some.length <= MOST_RANKED) return { numbers: some, isExact: true }
  if (after !== undefined) {
    const recent = await newestNotes(reader, project.id, after, null, FEW_RECENT_NOTES + 1)
    const ids = recent.map(({ id }) => id)
    if (ids.length <= FEW_RECENT_NOTES) return { numbers: await matchingRowsOf(reader, expression, ids), isExact: true }
  }
  const numbers = await matchingRows(reader, expression, MOST_COMPARED + 1)
  return { numbers: numbers.slice(0, MOST_COMPARED), isExact: numbers.length <= MOST_COMPARED }
}

function noteIdOf(number: number): number {
  return rowOf(number).noteId
}
