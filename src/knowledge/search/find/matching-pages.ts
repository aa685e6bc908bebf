import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../../platform/storage/database.ts'
import { matchingRows } from '../index/store-search-index.ts'

export interface MatchingPage {
  /** Those of the newest notes first. */
  numbers: number[]
  /** Whether nothing matches behind them. */
  isLast: boolean
}

/**
 * Rows that match, `rows` at a time and `allRows` altogether, behind the first page where that is given. Others get their turn between
 * two pages.
 */
export async function* matchingPages(
  reader: Reader,
  expression: string,
  { rows, allRows }: { rows: number; allRows: number },
  first?: MatchingPage,
): AsyncGenerator<MatchingPage, undefined> {
  let below = first?.numbers.at(-1)
  if (first?.isLast) return
  for (let seen = first?.numbers.length ?? 0; seen < allRows; seen += rows) {
    if (below !== undefined) await nextTurn()
    const found = await matchingRows(reader, expression, rows + 1, below)
    const isLast = found.length <= rows
    yield { numbers: found.slice(0, rows), isLast }
    if (isLast) return
    below = found[rows - 1]
  }
}
