import { ownText } from '../../text/own-text.ts'
import { stemOf } from '../words/stem.ts'
import { FNV_START, fold, hashOf, OTHER_PRIME, STEM, WORD } from '../words/word-hash.ts'

// A word or a stem with what is the same in every row, and what the row that is being counted has of it. A text has most of its
// words in common with those before it: they are found by their hash while the text is read, and nothing is allocated for them.
export interface Tally {
  text: string
  hash: number
  /** A second hash, for marks. */
  other: number
  /** Null where it has none that differs, and of a stem. */
  stem: Tally | null
  /** Another one in the same bucket. */
  next: Tally | null
  row: number
  count: number
}

const MOST_KEPT = 20_000
const BUCKETS = 16_384
// Somebody may write words that all have the same hash; looking through all of them for each would take minutes.
const MOST_IN_BUCKET = 64

const wordTallies = new Array<Tally | null>(BUCKETS).fill(null)
const crowded = new Map<string, Tally>()
let words = 0
const stemTallies = new Map<string, Tally>()

/** Not in the middle of a row, which would then have a word twice. */
export function forgetMany(): void {
  if (words < MOST_KEPT) return
  // Both, because words know their stems.
  wordTallies.fill(null)
  crowded.clear()
  words = 0
  stemTallies.clear()
}

/** Of the word in small ASCII letters between two places. */
export function tallyAt(bytes: Buffer, start: number, end: number, hash: number): Tally {
  const length = end - start
  let depth = 0
  for (let tally = bucketOf(hash); tally !== null; tally = tally.next) {
    if (tally.hash === hash >>> 0 && tally.text.length === length && isAt(tally.text, bytes, start)) return tally
    depth++
  }
  return tallyBeyond(bytes.toString('latin1', start, end), hash, depth)
}

function isAt(word: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) !== bytes[start + at]) return false
  return true
}

export function tallyOfText(word: string): Tally {
  const hash = fold(FNV_START, word)
  let depth = 0
  for (let tally = bucketOf(hash); tally !== null; tally = tally.next) {
    if (tally.text === word) return tally
    depth++
  }
  return tallyBeyond(word, hash, depth)
}

/** Of a word that is not in its bucket, which has so many. */
function tallyBeyond(word: string, hash: number, depth: number): Tally {
  const known = depth < MOST_IN_BUCKET ? undefined : crowded.get(word)
  return known ?? keptWord(word, hash, depth)
}

function bucketOf(hash: number): Tally | null {
  return wordTallies[hash & (BUCKETS - 1)] as Tally | null
}

function keptWord(read: string, hash: number, depth: number): Tally {
  const word = ownText(read)
  const stem = stemOf(word)
  const stemTally = stem === null ? null : (stemTallies.get(stem) ?? keptStem(stem))
  const tally = tallyOf(word, WORD, stemTally)
  words++
  if (depth >= MOST_IN_BUCKET) crowded.set(word, tally)
  else {
    tally.next = bucketOf(hash)
    wordTallies[hash & (BUCKETS - 1)] = tally
  }
  return tally
}

function keptStem(stem: string): Tally {
  const tally = tallyOf(stem, STEM, null)
  stemTallies.set(stem, tally)
  return tally
}

function tallyOf(text: string, mark: string, stem: Tally | null): Tally {
  return {
    text,
    hash: hashOf(mark, text),
    other: fold(FNV_START, text, OTHER_PRIME),
    stem,
    next: null,
    row: 0,
    count: 0,
  }
}
