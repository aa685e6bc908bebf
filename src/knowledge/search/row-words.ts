/**
 * How often a row of the index has which word: what the order of hits is made from. It is kept beside the row, in the same bytes
 * on both engines, so that ranking reads as many rows as there are hits and no lists of words.
 *
 *   length of the row in words (4 bytes), hashes of the words in ascending order (4 bytes each), weighted counts (1 byte each)
 */
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

export function countWords(row: CountedTexts): CountedRow {
  const counts = new Map<string, number>()
  const stems = new Map<string, number>()
  const beginnings = new Map<string, number>()
  let length = 0
  for (const field of FIELDS) {
    if (row[field] === '') continue
    const weight = WEIGHTS[field]
    for (const word of indexWords(row[field])) {
      length++
      counts.set(word, (counts.get(word) ?? 0) + weight)
      if (field === 'title') addBeginnings(beginnings, word)
    }
  }
  for (const [word, count] of counts) {
    const stem = stemOf(word)
    if (stem !== null) stems.set(stem, (stems.get(stem) ?? 0) + count)
  }
  const entries: [number, number][] = []
  const add = (counted: Map<string, number>, mark: string) => {
    for (const [word, count] of counted) {
      if (entries.length < MOST_WORDS) entries.push([hashOf(mark, word), Math.min(count, LARGEST)])
    }
  }
  add(beginnings, BEGINNING)
  add(counts, WORD)
  add(stems, STEM)
  return { stems: [...stems.keys()], bytes: bytesOf(length, entries), words: [...counts.keys()] }
}

const WORD = ''
const STEM = '+'
const BEGINNING = '^'

function addBeginnings(beginnings: Map<string, number>, word: string): void {
  for (let length = 1; length < Math.min(word.length, LONGEST_BEGINNING); length++) {
    beginnings.set(word.slice(0, length), WEIGHTS.title)
  }
}

function bytesOf(length: number, entries: [number, number][]): Uint8Array {
  entries.sort(([one], [other]) => one - other)
  const bytes = new Uint8Array(HEAD + entries.length * ENTRY)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, length, true)
  for (const [index, [hash, count]] of entries.entries()) {
    view.setUint32(HEAD + index * 4, hash, true)
    view.setUint8(HEAD + entries.length * 4 + index, count)
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
