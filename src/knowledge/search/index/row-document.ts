import { indexWords } from '../words/search-text.ts'
import { countWords } from './row-words.ts'
import type { SearchRow } from './search-rows.ts'
import { scopeMark, stemMark, TextVector } from './text-vector.ts'

/** What of a text its document does not have: nothing is missing; the places of its words; the words, too. */
export const SPLIT = { none: 0, places: 1, words: 2 } as const

/** In the documents that have all words but not their places. */
export const SPLIT_MARK = '~split'

const ASCII_BEGINNING = /^[\0-\x7f]{1,3}/
const SHORT_BEGINNING = /^[\0-\x7f]{1,2}$/

/** In the documents that have no words: what they begin with, of which there are always few enough. */
export function beginningMark(word: string): string {
  const [beginning] = ASCII_BEGINNING.exec(word) ?? [String.fromCodePoint(word.codePointAt(0) as number)]
  return `~${beginning}`
}

/** Whether words that begin with this one may have longer marks than it has. */
export function isShortBeginning(word: string): boolean {
  return SHORT_BEGINNING.test(word)
}

/** Phrases of no more words than this are found across the end of a piece. */
export const LONGEST_ACROSS = 64

/** What PostgreSQL keeps of a row. */
interface RowDocument {
  /** The text of a `tsvector`. */
  document: string
  split: (typeof SPLIT)[keyof typeof SPLIT]
  /** Of a row that is split: further ones, which have all of its words with their places. */
  pieces: string[]
  /** How often it has which word. */
  words: Uint8Array
}

/**
 * A `tsvector` holds 255 places of a word, none behind the 16,383rd, and a megabyte altogether. Of a text that is longer it has the words
 * without their places, or where even those are too many what they begin with, and all of it stands in pieces, each of which begins with
 * the end of the one before.
 */
export function rowDocument(row: SearchRow): RowDocument {
  const counted = countWords(row)
  const { bytes: words } = counted
  const scope = row.scope.split(' ').map(scopeMark)
  const stems = counted.stems.map(stemMark)
  const whole = new TextVector()
  const isWhole =
    addAll(whole, scope) &&
    whole.add(row.title, 'A') &&
    whole.add(row.tags, 'B') &&
    whole.add(row.headings, 'C') &&
    whole.add(row.body, 'D') &&
    whole.add(row.place, 'D') &&
    addAll(whole, stems)
  if (isWhole) return { document: whole.toString(), split: SPLIT.none, pieces: [], words }

  const pieces = piecesOf([row.title, row.tags, row.headings, row.body, row.place])
  const all = new TextVector()
  if (addAll(all, [...scope, SPLIT_MARK]) && addAll(all, counted.words) && addAll(all, stems)) {
    return { document: all.toString(), split: SPLIT.places, pieces, words }
  }
  const begun = new TextVector()
  addAll(begun, [...scope, ...new Set([...counted.words, ...stems].map(beginningMark))])
  return { document: begun.toString(), split: SPLIT.words, pieces: [...pieces, ...markPieces(stems)], words }
}

function addAll(vector: TextVector, marks: readonly string[]): boolean {
  return marks.every((mark) => vector.mark(mark))
}

function piecesOf(texts: readonly string[]): string[] {
  // Null is the end of a text.
  const words: (string | null)[] = []
  for (const text of texts) {
    for (const word of indexWords(text)) words.push(word)
    words.push(null)
  }
  const pieces: string[] = []
  let piece = new TextVector()
  for (let next = 0; next < words.length; ) {
    const word = words[next] as string | null
    if (word === null) piece.leaveGap()
    if (word === null || piece.append(word)) {
      next++
      continue
    }
    pieces.push(piece.toString())
    piece = new TextVector()
    // So few always fit into a new one.
    next = Math.max(0, next - LONGEST_ACROSS + 1)
  }
  return [...pieces, piece.toString()]
}

function markPieces(marks: readonly string[]): string[] {
  const pieces: string[] = []
  let piece = new TextVector()
  for (const mark of marks) {
    if (piece.mark(mark)) continue
    pieces.push(piece.toString())
    piece = new TextVector()
    piece.mark(mark)
  }
  return [...pieces, piece.toString()]
}
