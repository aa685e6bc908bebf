import type { Reader } from '../../../platform/storage/database.ts'
import { RowWords } from '../index/row-words.ts'
import { rowBytes } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'
import { bm25, weighWord } from './bm25.ts'
import type { WordStatistics } from './word-statistics.ts'

const UNWEIGHED = { notes: 0, holding: new Map<string, number>() }

/** How well rows fit the words. */
export async function scoreRows(
  reader: Reader,
  numbers: readonly number[],
  words: readonly string[],
  statistics: WordStatistics,
): Promise<Map<number, number>> {
  const bytes = await rowBytes(reader, numbers)
  const unique = [...new Set(words)]
  // A single word has nothing to be weighed against.
  const { notes, holding } = unique.length === 1 ? UNWEIGHED : statistics
  const weighed = unique.map((word) => weighWord(word, notes, holding.get(word) ?? 0))
  const rows = new Map([...bytes].map(([number, own]) => [number, new RowWords(own)]))
  const means = meanLengths(rows)
  return new Map(
    numbers.map((number) => {
      const row = rows.get(number)
      const mean = means.get(rowOf(number).kind) ?? 1
      return [number, row === undefined ? 0 : bm25(row, weighed, row.length / mean)]
    }),
  )
}

/** A part of a note is short beside a note, not beside other parts. */
function meanLengths(rows: ReadonlyMap<number, RowWords>): Map<string, number> {
  const sums = new Map<string, { length: number; count: number }>()
  for (const [number, row] of rows) {
    const { kind } = rowOf(number)
    const sum = sums.get(kind) ?? { length: 0, count: 0 }
    sums.set(kind, { length: sum.length + row.length, count: sum.count + 1 })
  }
  return new Map([...sums].map(([kind, { length, count }]) => [kind, Math.max(1, length / count)]))
}
