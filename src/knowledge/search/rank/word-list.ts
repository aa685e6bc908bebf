import { ASCII, LETTERS } from '../words/ascii-letters.ts'
import { indexWords, LONGEST_WORD } from '../words/search-text.ts'
import { addToHash, KnownWords, NO_HASH } from './known-words.ts'

/** When there are so many, they are forgotten together. */
const MOST_KNOWN = 65_536

let known = new KnownWords()
let lists = 0

/**
 * The distinct words of the candidates, by number; what `indexWords` reads, without making a string of every one again. Lists are
 * filled one after the other: a new one ends those before it.
 */
export class WordList {
  readonly words: string[] = []
  /** By word. */
  readonly stems: string[] = []
  /** Where each word is among those that are known from one list to the next. */
  readonly places: number[] = []
  readonly known: KnownWords
  readonly #id = ++lists

  constructor() {
    if (known.size >= MOST_KNOWN) known = new KnownWords()
    this.known = known
  }

  /** Adds the words of a part of a text to `into`, as numbers. */
  read(text: string, start: number, end: number, into: number[]): void {
    const before = into.length
    if (this.#readAscii(text, start, end, into)) return
    into.length = before
    for (const word of indexWords(text.slice(start, end))) into.push(this.#numberOf(word, 0, word.length, hashOf(word)))
  }

  /** False when there is something that only `indexWords` knows how to read. */
  #readAscii(text: string, start: number, end: number, into: number[]): boolean {
    let first = -1
    let hash = NO_HASH
    for (let at = start; at <= end; at++) {
      const code = at < end ? text.charCodeAt(at) : 0
      if (code >= ASCII) return false
      const letter = LETTERS[code] as number
      if (letter !== 0) {
        if (first < 0) {
          first = at
          hash = NO_HASH
        }
        hash = addToHash(hash, letter)
      } else if (first >= 0) {
        if (at - first > LONGEST_WORD) return false
        into.push(this.#numberOf(text, first, at, hash))
        first = -1
      }
    }
    return true
  }

  #numberOf(text: string, start: number, end: number, hash: number): number {
    const { known } = this
    const place = known.placeOf(text, start, end, hash)
    const number = known.numberIn(this.#id, place)
    if (number >= 0) return number
    known.setNumber(this.#id, place, this.words.length)
    this.stems.push(known.stems[place] as string)
    this.places.push(place)
    return this.words.push(known.words[place] as string) - 1
  }
}

function hashOf(word: string): number {
  let hash = NO_HASH
  for (let at = 0; at < word.length; at++) hash = addToHash(hash, word.charCodeAt(at))
  return hash
}
