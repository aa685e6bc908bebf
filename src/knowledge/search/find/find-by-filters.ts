import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { prepareFilters } from '../filter/passing-notes.ts'
import { scopeExpression } from '../index/match-expression.ts'
import { allRowsOf, matchingRows, matchingRowsOf } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'
import { MOST_COUNTED } from './candidates.ts'
import { NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { newestNotes, type SearchedNote, searchedNotes } from './store-search-notes.ts'

const BATCH = 100
// Notes that are looked at, one after the other, when the index alone cannot tell which of them are the newest.
const MOST_NOTES = 5_000

/** Everything that passes the filters, by the time of its note's change. */
export async function findByFilters(
  reader: Reader,
  project: Project,
  filters: SearchFilters,
  wanted: number,
): Promise<OrderedRows> {
  const prepared = prepareFilters(filters)
  const scores = new Map<number, number>()
  if (prepared.kinds === null) return NO_ROWS
  const { scope, without } = prepared
  const { engine } = reader
  const expression = scopeExpression(engine, { projectId: project.id, isOnlyProject: false, scope, without })
  const numbers = await matchingRows(reader, expression, MOST_COUNTED + 1)
  if (numbers.length <= MOST_COUNTED) {
    const notes = await searchedNotes(
      reader,
      project.id,
      numbers.map((number) => rowOf(number).noteId),
    )
    const passing = numbers.filter((number) => {
      const note = notes.get(rowOf(number).noteId)
      return note !== undefined && (!prepared.mustCompare || prepared.passes(note))
    })
    return { numbers: passing.sort(byChange(notes)), scores, total: passing.length, isExact: true }
  }
  // Too many to sort: the notes in the order of their changes, and what of them passes.
  const found: number[] = []
  let before: SearchedNote | null = null
  const last = Math.min(wanted, MOST_COUNTED)
  for (let seen = 0; seen < MOST_NOTES && found.length < last; seen += BATCH) {
    const batch: SearchedNote[] = await newestNotes(reader, project.id, filters.after ?? 0, before, BATCH)
    const passing = batch.filter((note) => prepared.passes(note))
    const notes = new Map(passing.map((note) => [note.id, note]))
    const ids = [...notes.keys()]
    const isAnyRow = filters.kinds === undefined && filters.categories === undefined
    const rows = isAnyRow ? await allRowsOf(reader, ids) : await matchingRowsOf(reader, expression, ids)
    // One by one: a note may have more rows than a call takes arguments.
    for (const row of rows.sort(byChange(notes))) found.push(row)
    before = batch.at(-1) ?? null
    if (batch.length < BATCH) return { numbers: found, scores, total: found.length, isExact: true }
  }
  // All that pass without a time were counted above; what else is not looked at may be anything.
  const total = prepared.mustCompare ? found.length : MOST_COUNTED
  return { numbers: found, scores, total, isExact: false }
}

/** Of one note in its own order. */
function byChange(notes: ReadonlyMap<number, SearchedNote>): (one: number, other: number) => number {
  return (one, other) => {
    const [a, b] = [rowOf(one).noteId, rowOf(other).noteId]
    return (notes.get(b)?.updated_at ?? 0) - (notes.get(a)?.updated_at ?? 0) || b - a || one - other
  }
}
