import { hasUnspaced } from '../../text/unspaced.ts'
import type { NoteWords } from './note-matches.ts'
import type { WordList } from './word-list.ts'

const MOST_PIECES = 16
// More are no version, day or address, and would be compared with every place of a note that begins as they do.
const MOST_WORDS = 16
// A longer question is an article.
const LONGEST_QUESTION = 10_000
const POSSESSIVE = /['’]s(?=$|[^\p{L}\p{N}])/giu
const PIECE = /\S+/g

/** Words of the question that signs join, by number: a version, a day or an address says little by its parts in whatever order. */
export function joinedWords(question: string, list: WordList): number[][] {
  const pieces: number[][] = []
  for (const [piece] of question.slice(0, LONGEST_QUESTION).replace(POSSESSIVE, '').matchAll(PIECE)) {
    if (hasUnspaced(piece)) continue
    const numbers: number[] = []
    list.read(piece, 0, piece.length, numbers)
    if (numbers.length > 1 && numbers.length <= MOST_WORDS) pieces.push(numbers)
    if (pieces.length === MOST_PIECES) break
  }
  return pieces
}

/** From 0 to 1: how many of them the note has as they were asked for, side by side. */
export function shareOfJoined(pieces: readonly number[][], { title, words, tags, place }: NoteWords): number {
  const found = pieces.filter((piece) => [title, tags, place, words].some((text) => stands(piece, text)))
  return pieces.length === 0 ? 0 : found.length / pieces.length
}

function stands(piece: readonly number[], text: readonly number[]): boolean {
  const first = piece[0] as number
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    if (piece.every((word, index) => text[at + index] === word)) return true
  }
  return false
}
