import type { Steps } from '../../text/steps.ts'
import { wordsInPieces } from '../words/search-text.ts'
import { countingWords } from './count-long-row.ts'
import type { SearchRow } from './search-rows.ts'
import { LAST_POSITION, scopeMark, stemMark, TextVector, type Weight } from './text-vector.ts'

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
export interface RowDocument {
  /** The text of a `tsvector`. */
  document: string
  split: (typeof SPLIT)[keyof typeof SPLIT]
  /** Of a row that is split: further ones, which have all of its words with their places. */
  pieces: string[]
  /** How often it has which word. */
  words: Uint8Array
}

const WEIGHTS = [
  ['title', 'A'],
  ['tags', 'B'],
  ['headings', 'C'],
  ['body', 'D'],
  ['place', 'D'],
] as const satisfies [keyof SearchRow, Weight][]
const MARKS_AT_ONCE = 1_000

/**
 * A `tsvector` holds 255 places of a word, none behind the 16,383rd, and a megabyte altogether. Of a text that is longer it has the words
 * without their places, or where even those are too many what they begin with, and all of it stands in pieces, each of which begins with
 * the end of the one before. Each step takes some milliseconds at most; a short row needs none.
 */
export function* rowDocument(row: SearchRow): Steps<RowDocument> {
  const counted = yield* countingWords(row)
  const { words: own, bytes: words } = counted
  const scope = row.scope.split(' ').map(scopeMark)
  const stems = counted.stems.map(stemMark)
  const whole = counted.length > LAST_POSITION ? null : yield* wholeVector(row, scope, stems)
  if (whole !== null) return { document: whole.toString(), split: SPLIT.none, pieces: [], words }

  const pieces = yield* piecesOf(row)
  const all = new TextVector()
  if ((yield* addAll(all, [...scope, SPLIT_MARK])) && (yield* addAll(all, own)) && (yield* addAll(all, stems))) {
    return { document: all.toString(), split: SPLIT.places, pieces, words }
  }
  const begun = new TextVector()
  yield* addAll(begun, scope)
  for (const marks of [own, stems]) yield* addAll(begun, marks, beginningMark)
  return { document: begun.toString(), split: SPLIT.words, pieces: [...pieces, ...(yield* markPieces(stems))], words }
}

function* wholeVector(row: SearchRow, scope: readonly string[], stems: readonly string[]): Steps<TextVector | null> {
  const vector = new TextVector()
  // Of each of these there are fewer than places.
  const addMarks = (marks: readonly string[]) => marks.every((mark) => vector.mark(mark))
  if (!addMarks(scope)) return null
  for (const [field, weight] of WEIGHTS) {
    if (row[field] === '') continue
    let isFirst = true
    for (const text of textsOf(row, field)) {
      vector.leaveGap()
      for (const words of wordsInPieces(text)) {
        if (!isFirst) yield
        isFirst = false
        if (!words.every((word) => vector.append(word, weight))) return null
      }
    }
  }
  return addMarks(stems) ? vector : null
}

/** What stands in a field, no phrase of which goes on from one to the next. */
function textsOf(row: SearchRow, field: (typeof WEIGHTS)[number][0]): string[] {
  return field === 'place' ? row.place.split('\n') : [row[field]]
}

function* addAll(vector: TextVector, words: readonly string[], as = (word: string) => word): Steps<boolean> {
  let added = 0
  for (const word of words) {
    if (!vector.mark(as(word))) return false
    if (++added % MARKS_AT_ONCE === 0) yield
  }
  return true
}

/** Null is the end of a text. */
type WordOrEnd = string | null

function* piecesOf(row: SearchRow): Steps<string[]> {
  const pieces: string[] = []
  const last: WordOrEnd[] = []
  let piece = new TextVector()
  const put = (word: WordOrEnd): void => {
    if (!added(piece, word)) {
      pieces.push(piece.toString())
      piece = new TextVector()
      // So few always fit into a new one.
      for (const before of last) added(piece, before)
      added(piece, word)
    }
    last.push(word)
    if (last.length >= LONGEST_ACROSS) last.shift()
  }
  for (const [field] of WEIGHTS) {
    // In the body, too, and not side by side there. Pieces have no weights by which a phrase could pass them over.
    if (field === 'headings') continue
    for (const text of textsOf(row, field)) {
      for (const words of wordsInPieces(text)) {
        for (const word of words) put(word)
        yield
      }
      put(null)
    }
  }
  return [...pieces, piece.toString()]
}

function added(piece: TextVector, word: WordOrEnd): boolean {
  if (word !== null) return piece.append(word)
  piece.leaveGap()
  return true
}

function* markPieces(marks: readonly string[]): Steps<string[]> {
  const pieces: string[] = []
  let piece = new TextVector()
  for (const [index, mark] of marks.entries()) {
    if (index % MARKS_AT_ONCE === 0) yield
    if (piece.mark(mark)) continue
    pieces.push(piece.toString())
    piece = new TextVector()
    piece.mark(mark)
  }
  return [...pieces, piece.toString()]
}
