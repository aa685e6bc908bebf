/**
 * How often a row of the index has which word: what the order of hits is made from. It is kept beside the row, in the same bytes
 * on both engines, so that ranking reads as many rows as there are hits and no lists of words.
 *
 *   length of the row in words (4 bytes), hashes of the words in ascending order (4 bytes each), weighted counts (1 byte each)
 */
import { LETTERS } from '../words/ascii-letters.ts'
import { indexWords, isAscii, LONGEST_WORD } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { BEGINNING, FNV_PRIME, FNV_START, fold, hashOf, OTHER_PRIME, STEM, WORD } from '../words/word-hash.ts'
import { forgetMany, type Tally, tallyAt, tallyOfText } from './word-tallies.ts'

export interface CountedTexts {
  title: string
  tags: string
  headings: string
  body: string
  place: string
}

export const WEIGHTS = { title: 10, tags: 5, headings: 3, body: 1, place: 1 } as const
export const FIELDS = ['title', 'tags', 'headings', 'body', 'place'] as const
const LARGEST = 255
// The words of a longer text beyond these are found, but do not count.
export const MOST_WORDS = 8_192
const LONGEST_BEGINNING = 12
const HEAD = 4
const ENTRY = 5

export interface CountedRow {
  /** In words. */
  length: number
  /** Each once, those only that differ from their word. */
  stems: string[]
  bytes: Uint8Array
  /** All of its words, each once. */
  words: string[]
  /** Of 53 bits, from the words in their order and where they stand: rows that an index could tell apart have different ones. */
  mark: number
}

let rows = 0

export function countWords(row: CountedTexts): CountedRow {
  forgetMany()
  rows++
  const counted: Tally[] = []
  let length = 0
  let beginnings = NONE
  markHigh = markLow = 0
  for (const field of FIELDS) {
    mix(length + 1, WEIGHTS[field])
    const text = row[field]
    if (text === '') continue
    length += isAscii(text)
      ? countAscii(text, WEIGHTS[field], counted)
      : countAny(indexWords(text), WEIGHTS[field], counted)
    // The title is the first of them: these are its words.
    if (field === 'title') beginnings = beginningsOf(counted.map(({ text }) => text))
  }
  const stems: Tally[] = []
  for (const word of counted) if (word.stem !== null) count(word.stem, word.count, stems)

  const size = Math.min(MOST_WORDS, beginnings.size + counted.length + stems.length)
  let next = 0
  for (const hash of beginnings) if (next < size) entries[next++] = entryOf(hash, WEIGHTS.title)
  for (const { hash, count } of counted) if (next < size) entries[next++] = entryOf(hash, count)
  for (const { hash, count } of stems) if (next < size) entries[next++] = entryOf(hash, count)
  return {
    length,
    stems: stems.map(({ text }) => text),
    bytes: bytesOf(length, entries.subarray(0, size)),
    words: counted.map(({ text }) => text),
    mark: joined(markHigh, markLow),
  }
}

/** The mark of what has a text more. */
export function markWith(mark: number, text: string): number {
  let high = Math.floor(mark / LOW_SIZE) | 0
  let low = mark % LOW_SIZE
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, FNV_PRIME)
    low = Math.imul(low ^ code, OTHER_PRIME)
  }
  return joined(high, low)
}

const LOW_BITS = 21
const LOW_SIZE = 2 ** LOW_BITS

// Of the row that is being counted.
let markHigh = 0
let markLow = 0

function mix(one: number, other: number): void {
  markHigh = Math.imul(markHigh ^ one, FNV_PRIME)
  markLow = Math.imul(((markLow << 5) | (markLow >>> 27)) ^ other, OTHER_PRIME)
}

function joined(high: number, low: number): number {
  return (high >>> 0) * LOW_SIZE + (low >>> (32 - LOW_BITS))
}

const NONE: ReadonlySet<number> = new Set()
const entries = new Float64Array(MOST_WORDS)

function countAny(list: readonly string[], weight: number, counted: Tally[]): number {
  for (const word of list) countWord(tallyOfText(word), weight, counted)
  return list.length
}

// Reading bytes takes a third of the time of reading a text that is a part of another.
const scratch = Buffer.allocUnsafe(16_384)

/** The same as `indexWords`, without making a text of each word. */
function countAscii(text: string, weight: number, counted: Tally[]): number {
  const bytes = text.length <= scratch.length ? scratch : Buffer.allocUnsafe(text.length)
  const end = bytes.write(text, 'latin1')
  let length = 0
  for (let at = 0; at < end; at++) {
    let code = LETTERS[bytes[at] as number] as number
    if (code === 0) continue
    const start = at
    let hash = FNV_START
    for (;;) {
      bytes[at] = code
      hash = Math.imul(hash ^ code, FNV_PRIME)
      if (++at === end) break
      code = LETTERS[bytes[at] as number] as number
      if (code === 0) break
    }
    length++
    const isShort = at - start < LONGEST_WORD
    const word = isShort
      ? tallyAt(bytes, start, at, hash)
      : tallyOfText(bytes.toString('latin1', start, start + LONGEST_WORD))
    countWord(word, weight, counted)
  }
  return length
}

function countWord(word: Tally, weight: number, counted: Tally[]): void {
  mix(word.hash, word.other)
  count(word, weight, counted)
}

function count(tally: Tally, by: number, into: Tally[]): void {
  if (tally.row === rows) tally.count += by
  else {
    tally.row = rows
    tally.count = by
    into.push(tally)
  }
}

/** Hashes of what the words begin with. */
export function beginningsOf(titleWords: Iterable<string>): Set<number> {
  const hashes = new Set<number>()
  for (const text of titleWords) {
    let hash = fold(FNV_START, BEGINNING)
    for (let at = 0; at < Math.min(text.length, LONGEST_BEGINNING) - 1; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
      hashes.add(hash >>> 0)
    }
  }
  return hashes
}

/** One number that is ordered by the hash. */
export function entryOf(hash: number, count: number): number {
  return hash * 256 + Math.min(count, LARGEST)
}

export function bytesOf(length: number, entries: Float64Array): Uint8Array {
  entries.sort()
  const bytes = Buffer.allocUnsafe(HEAD + entries.length * ENTRY)
  writeNumber(bytes, 0, length)
  const counts = HEAD + entries.length * 4
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as number
    const hash = Math.floor(entry / 256)
    writeNumber(bytes, HEAD + index * 4, hash)
    bytes[counts + index] = entry - hash * 256
  }
  return bytes
}

function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = number
  bytes[at + 1] = number >>> 8
  bytes[at + 2] = number >>> 16
  bytes[at + 3] = number >>> 24
}

/** A word of a question, ready to be looked up in many rows. */
export interface Lookup {
  word: number
  /** The stem as a word of its own. */
  stemWord: number
  stem: number
  beginning: number
}

export function lookupOf(word: string): Lookup {
  const stem = stemOf(word) ?? word
  return {
    word: hashOf(WORD, word),
    stemWord: hashOf(WORD, stem),
    stem: hashOf(STEM, stem),
    beginning: hashOf(BEGINNING, word),
  }
}

/** Reads what `countWords` wrote. */
export class RowWords {
  readonly #view: DataView
  readonly #count: number

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#count = Math.max(0, Math.floor((bytes.byteLength - HEAD) / ENTRY))
  }

  get length(): number {
    return this.#count === 0 ? 0 : this.#view.getUint32(0, true)
  }

  /** The weighted number of times that the row has a word of this hash. */
  count(hash: number): number {
    let low = 0
    let high = this.#count - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const own = this.#view.getUint32(HEAD + middle * 4, true)
      if (own === hash) return this.#view.getUint8(HEAD + this.#count * 4 + middle)
      if (own < hash) low = middle + 1
      else high = middle - 1
    }
    return 0
  }
}
