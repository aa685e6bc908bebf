import type { Reader } from '../../../platform/storage/database.ts'
import { countRows, matchingRows } from '../index/store-search-index.ts'

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
  /** Where each had to be looked at, the last that was. Null: nothing is left behind it. */
  comparedTo: number | null
}

/** Rows beyond these are not counted. */
export const MOST_COUNTED = 10_000
/** Of more rows than this only some are ranked: the newest, and those that promise most. */
export const MOST_RANKED = 1_000
/** The same where others are found by meaning besides. */
export const FEW_RANKED = 500

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
  return { numbers, isWhole, total: Math.min(total, MOST_COUNTED), isExact, changedAt: null, comparedTo: null }
}
