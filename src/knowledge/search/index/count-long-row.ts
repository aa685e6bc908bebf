import { ownText } from '../../text/own-text.ts'
import type { Steps } from '../../text/steps.ts'
import { wordsInPieces } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { hashOf, STEM, WORD } from '../words/word-hash.ts'
import {
  beginningsOf,
  bytesOf,
  type CountedRow,
  type CountedTexts,
  countWords,
  entryOf,
  FIELDS,
  MOST_WORDS,
  WEIGHTS,
} from './row-words.ts'

// Counting more characters than this takes long enough to let others have their turn meanwhile.
const LONG_ROW = 20_000
const WORDS_AT_ONCE = 1_000

type CountedInTurns = Omit<CountedRow, 'mark'>

/** The same as `countWords`; of a long row not in one go. */
export function* countingWords(row: CountedTexts): Steps<CountedInTurns> {
  const size = FIELDS.reduce((sum, field) => sum + row[field].length, 0)
  return size > LONG_ROW ? yield* countingLongRow(row) : countWords(row)
}

/** Others are counted meanwhile, so that nothing is kept where `countWords` keeps it. */
export function* countingLongRow(row: CountedTexts): Steps<CountedInTurns> {
  const counts = new Map<string, number>()
  let length = 0
  let beginnings: Iterable<number> = []
  for (const field of FIELDS) {
    const weight = WEIGHTS[field]
    for (const words of wordsInPieces(row[field])) {
      for (const word of words) {
        const count = counts.get(word)
        if (count === undefined) counts.set(ownText(word), weight)
        else counts.set(word, count + weight)
      }
      length += words.length
      yield
    }
    if (field === 'title') beginnings = beginningsOf(counts.keys())
  }
  const stems = new Map<string, number>()
  let seen = 0
  for (const [word, count] of counts) {
    const stem = stemOf(word)
    if (stem !== null) stems.set(stem, (stems.get(stem) ?? 0) + count)
    if (++seen % WORDS_AT_ONCE === 0) yield
  }
  const entries = firstEntries(beginnings, counts, stems)
  return { length, stems: [...stems.keys()], bytes: bytesOf(length, entries), words: [...counts.keys()] }
}

function firstEntries(
  beginnings: Iterable<number>,
  counts: ReadonlyMap<string, number>,
  stems: ReadonlyMap<string, number>,
): Float64Array {
  const entries: number[] = []
  const add = (hash: number, count: number): boolean => {
    if (entries.length === MOST_WORDS) return false
    entries.push(entryOf(hash, count))
    return true
  }
  for (const hash of beginnings) if (!add(hash, WEIGHTS.title)) break
  for (const [word, count] of counts) if (!add(hashOf(WORD, word), count)) break
  for (const [stem, count] of stems) if (!add(hashOf(STEM, stem), count)) break
  return Float64Array.from(entries)
}
