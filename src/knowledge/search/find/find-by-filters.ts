import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { together } from '../../note/together.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { type PreparedFilters, prepareFilters } from '../filter/passing-notes.ts'
import { scopeExpression } from '../index/match-expression.ts'
import { allRowsOf, matchingRows, matchingRowsOf, rowsInParts } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'
import { passingScope } from './bulky-notes.ts'
import { MOST_COUNTED } from './candidates.ts'
import { NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { noteBatches } from './note-batches.ts'
import { notesInTurns } from './notes-in-turns.ts'
import type { ChangedNote, SearchedNote } from './store-search-notes.ts'

/** How far is looked when there are too many rows to sort. */
export interface FilterLimits {
  /** Rows that are counted, sorted and shown. */
  rows: number
  /** Notes that are looked at in the order of their changes, where the index knows others that pass. */
  notes: number
  /** The same where it does not: whether a note passes is known by looking at it. */
  comparedNotes: number
}

const LIMITS: FilterLimits = { rows: MOST_COUNTED, notes: 5_000, comparedNotes: 50_000 }

export interface AskedFilters {
  filters: SearchFilters
  /** How many rows from the first one on. */
  wanted: number
  limits?: FilterLimits
}

interface FilterSearch {
  reader: Reader
  project: Project
  filters: SearchFilters
  prepared: PreparedFilters
  expression: string
}

/** Everything that passes the filters, by the time of its note's change. */
export async function findByFilters(
  reader: Reader,
  project: Project,
  { filters, wanted, limits = LIMITS }: AskedFilters,
): Promise<OrderedRows> {
  const prepared = prepareFilters(filters)
  const scores = new Map<number, number>()
  if (prepared.kinds === null) return NO_ROWS
  const { mustCompare } = prepared
  const { scope, isWhole } = await passingScope(reader, project, prepared, false)
  const expression = scopeExpression(reader.engine, scope)
  const search: FilterSearch = { reader, project, filters, prepared, expression }
  const numbers = await matchingRows(reader, expression, limits.rows + 1)
  if (numbers.length <= limits.rows) {
    const passing = await passingRows(search, numbers, null)
    return { numbers: passing, scores, total: passing.length, isExact: isWhole }
  }
  // Too many to sort: the notes in the order of their changes, and what of them passes.
  const last = Math.min(wanted, limits.rows)
  const { found, behind } = await rowsByChange(search, last, mustCompare ? limits.comparedNotes : limits.notes)
  if (behind === null) return { numbers: found, scores, total: found.length, isExact: true }
  // Behind those, what the index found among the newest notes, however long ago they changed.
  const others = found.length < last ? await passingRows(search, numbers, behind) : []
  const all = [...found, ...others].slice(0, limits.rows)
  // All that pass without being compared were counted above; what else is not looked at may be anything.
  return { numbers: all, scores, total: mustCompare ? all.length : limits.rows, isExact: false }
}

/** Whether the index knows more rows than so many that may pass. Nothing is compared, and nobody waits for the index. */
export async function mayMorePass(
  reader: Reader,
  project: Project,
  filters: SearchFilters,
  count: number,
): Promise<boolean> {
  const prepared = prepareFilters(filters)
  if (prepared.kinds === null) return false
  const { scope } = await passingScope(reader, project, prepared, false)
  const numbers = await matchingRows(reader, scopeExpression(reader.engine, scope), count + 1)
  return numbers.length > count
}

interface RowsByChange {
  found: number[]
  /** The last note that was looked at; null: there is no other. */
  behind: SearchedNote | null
}

/** At least so many rows, unless so many notes have fewer. */
async function rowsByChange(search: FilterSearch, rows: number, notes: number): Promise<RowsByChange> {
  const { reader, project, filters, prepared } = search
  // What a note says of its own age may be before 1970.
  const after = filters.after ?? Number.MIN_SAFE_INTEGER
  const found: number[] = []
  let behind: SearchedNote | null = null
  for await (const batch of noteBatches(reader, project.id, after, notes)) {
    const passing = batch.notes.filter((note) => prepared.passes(note))
    for await (const some of rowsInTurns(search, passing)) {
      // One by one: a note may have more rows than a call takes arguments.
      for (const row of some) found.push(row)
    }
    if (batch.isLast) return { found, behind: null }
    behind = batch.notes.at(-1) ?? null
    if (found.length >= rows) break
  }
  return { found, behind }
}

// Characters of notes whose rows are read together: a few of them are enough for an observation.
const READ_TOGETHER = 250_000

/** What of notes that pass is to be found, in their order; of long ones in parts. Others get their turn between two of them. */
async function* rowsInTurns(search: FilterSearch, notes: readonly ChangedNote[]): AsyncGenerator<number[]> {
  const { reader, filters } = search
  // NOTE Not those of a category: FTS5 reads all rows that have a word up to the part that is asked for, for each part again.
  const isInParts = reader.engine === 'sqlite' && !filters.categories?.length
  for (const some of together(notes, READ_TOGETHER)) {
    const [first] = some
    if (isInParts && first !== undefined && first.size > READ_TOGETHER) {
      for await (const rows of rowsInParts(reader, first.id)) {
        yield ofKinds(search, rows)
        await nextTurn()
      }
    } else {
      const rows = await rowsOf(search, some)
      // Of one note in its own order, which its numbers are: nothing has to be looked up for that.
      yield some.length === 1
        ? rows.sort((a, b) => a - b)
        : rows.sort(byChange(new Map(some.map((note) => [note.id, note]))))
      await nextTurn()
    }
  }
}

async function rowsOf(search: FilterSearch, notes: readonly ChangedNote[]): Promise<number[]> {
  const { reader, filters, expression } = search
  const noteIds = notes.map(({ id }) => id)
  if (filters.categories?.length) return matchingRowsOf(reader, expression, noteIds)
  return ofKinds(search, await allRowsOf(reader, noteIds))
}

function ofKinds({ prepared }: FilterSearch, numbers: readonly number[]): number[] {
  return numbers.filter((number) => prepared.kinds?.has(rowOf(number).kind))
}

/** Of these rows those that pass, in their order; only those of notes that changed before the one given. */
async function passingRows(
  { reader, project, prepared: { mustCompare, passes } }: FilterSearch,
  numbers: readonly number[],
  behind: SearchedNote | null,
): Promise<number[]> {
  const noteIds = numbers.map((number) => rowOf(number).noteId)
  const notes = await notesInTurns(reader, project.id, noteIds, (note) => {
    const isBehind = behind === null || changedBefore(note, behind)
    return isBehind && (!mustCompare || passes(note))
  })
  return numbers.filter((number) => notes.has(rowOf(number).noteId)).sort(byChange(notes))
}

function changedBefore(note: SearchedNote, other: SearchedNote): boolean {
  return note.updated_at === other.updated_at ? note.id < other.id : note.updated_at < other.updated_at
}

/** Of one note in its own order. */
function byChange(notes: ReadonlyMap<number, SearchedNote>): (one: number, other: number) => number {
  return (one, other) => {
    const [a, b] = [rowOf(one).noteId, rowOf(other).noteId]
    return (notes.get(b)?.updated_at ?? 0) - (notes.get(a)?.updated_at ?? 0) || b - a || one - other
  }
}
