/**
 * How often a row of the index has which word: what the order of hits is made from. It is kept beside the row, in the same bytes
 * on both engines, so that ranking reads as many rows as there are hits and no lists of words.
 *
 *   length of the row in words (4 bytes), hashes of the words in ascending order (4 bytes each), weighted counts (1 byte each)
 */
import { ownText } from '../text/own-text.ts'
import { indexWords } from './search-text.ts'
import { stemOf } from './stem.ts'

export interface CountedTexts {
  title: string
  tags: string
  headings: string
  body: string
  place: string
}

const WEIGHTS = { title: 10, tags: 5, headings: 3, body: 1, place: 1 } as const
const FIELDS = ['title', 'tags', 'headings', 'body', 'place'] as const
const LARGEST = 255
// The words of a longer text beyond these are found, but do not count.
const MOST_WORDS = 8_192
const LONGEST_BEGINNING = 12
const HEAD = 4
const ENTRY = 5

export interface CountedRow {
  /** Each once, those only that differ from their word. */
  stems: string[]
  bytes: Uint8Array
  /** All of its words, each once. */
  words: string[]
}

// A word or a stem with what is the same in every row, and what the row that is being counted has of it. A text has most of its
// words in common with those before it, so nothing is allocated for them.
interface Tally {
  text: string
  hash: number
  /** Null where it has none that differs, and of a stem. */
  stem: Tally | null
  row: number
  count: number
}

const MOST_KEPT = 20_000

const wordTallies = new Map<string, Tally>()
const stemTallies = new Map<string, Tally>()
let rows = 0

export function countWords(row: CountedTexts): CountedRow {
  // Both, because words know their stems; and not in the middle of a row, which would then have a word twice.
  if (wordTallies.size >= MOST_KEPT) {
    wordTallies.clear()
    stemTallies.clear()
  }
  rows++
  const counted: Tally[] = []
  const beginnings = new Set<string>()
  let length = 0
  for (const field of FIELDS) {
    if (row[field] === '') continue
    const words = indexWords(row[field])
    length += words.length
    for (const word of words) {
      count(wordTallies.get(word) ?? keptWord(word), WEIGHTS[field], counted)
      if (field === 'title') addBeginnings(beginnings, word)
    }
  }
  const stems: Tally[] = []
  for (const word of counted) if (word.stem !== null) count(word.stem, word.count, stems)

  const entries = new Float64Array(Math.min(MOST_WORDS, beginnings.size + counted.length + stems.length))
  let next = 0
  for (const beginning of beginnings) {
    if (next < entries.length) entries[next++] = entryOf(hashOf(BEGINNING, beginning), WEIGHTS.title)
  }
  for (const tallies of [counted, stems]) {
    for (const { hash, count } of tallies) if (next < entries.length) entries[next++] = entryOf(hash, count)
  }
  return {
    stems: stems.map(({ text }) => text),
    bytes: bytesOf(length, entries),
    words: counted.map(({ text }) => text),
  }
}

function count(tally: Tally, by: number, into: Tally[]): void {
  if (tally.row === rows) tally.count += by
  else {
    tally.row = rows
    tally.count = by
    into.push(tally)
  }
}

function keptWord(read: string): Tally {
  const word = ownText(read)
  const stem = stemOf(word)
  const tally = tallyOf(word, WORD, stem === null ? null : (stemTallies.get(stem) ?? keptStem(stem)))
  wordTallies.set(word, tally)
  return tally
}

function keptStem(stem: string): Tally {
  const tally = tallyOf(stem, STEM, null)
  stemTallies.set(stem, tally)
  return tally
}

function tallyOf(text: string, mark: string, stem: Tally | null): Tally {
  return { text, hash: hashOf(mark, text), stem, row: 0, count: 0 }
}

const WORD = ''
const STEM = '+'
const BEGINNING = '^'

function addBeginnings(beginnings: Set<string>, word: string): void {
  for (let length = 1; length < Math.min(word.length, LONGEST_BEGINNING); length++)
    beginnings.add(word.slice(0, length))
}

/** One number that is ordered by the hash. */
function entryOf(hash: number, count: number): number {
  return hash * 256 + Math.min(count, LARGEST)
}

function bytesOf(length: number, entries: Float64Array): Uint8Array {
  entries.sort()
  const bytes = new Uint8Array(HEAD + entries.length * ENTRY)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, length, true)
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as number
    view.setUint32(HEAD + index * 4, Math.floor(entry / 256), true)
    view.setUint8(HEAD + entries.length * 4 + index, entry % 256)
  }
  return bytes
}

/** FNV-1a over the code units. */
function hashOf(mark: string, word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < mark.length; at++) hash = Math.imul(hash ^ mark.charCodeAt(at), 0x01000193)
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash >>> 0
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
