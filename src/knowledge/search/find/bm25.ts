import { type Lookup, lookupOf, type RowWords } from '../index/row-words.ts'

/** How much a word of a question says: the rarer, the more. */
export interface WeighedWord {
  lookup: Lookup
  weight: number
}

// What BM25 is usually taken with: how soon more of the same word adds nothing, and how much longer rows pay for their length.
const SATURATION = 1.2
const LENGTH_SHARE = 0.75
// Another form of the word is less than the word, and a beginning less than both.
const STEM_SHARE = 0.6
const BEGINNING_SHARE = 0.3
const DIGITS = 1e6

export function weighWord(word: string, notes: number, holding: number): WeighedWord {
  const rest = Math.max(0, notes - holding)
  return { lookup: lookupOf(word), weight: Math.log(1 + (rest + 0.5) / (holding + 0.5)) }
}

/** BM25 over the weighted counts; `relativeLength` is 1 for a row as long as the others of its kind. */
export function bm25(row: RowWords, words: readonly WeighedWord[], relativeLength: number): number {
  const penalty = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relativeLength)
  let score = 0
  for (const { lookup, weight } of words) {
    const count = countOf(row, lookup)
    if (count > 0) score += (weight * count * (SATURATION + 1)) / (count + penalty)
  }
  // Sums of the same numbers in another order must not differ.
  return Math.round(score * DIGITS) / DIGITS
}

function countOf(row: RowWords, { word, stemWord, stem, beginning }: Lookup): number {
  const own = row.count(word)
  // Where the word is not its own stem, those that have the stem include it.
  const others = row.count(stem) + (stemWord === word ? 0 : row.count(stemWord) - Math.min(own, row.count(stem)))
  if (own > 0 || others > 0) return own + STEM_SHARE * Math.max(0, others)
  return BEGINNING_SHARE * row.count(beginning)
}
