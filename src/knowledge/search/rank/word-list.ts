import { ASCII, LETTERS } from '../words/ascii-letters.ts'
import { indexWords, LONGEST_WORD } from '../words/search-text.ts'
import { FNV_PRIME, fold, OTHER_PRIME } from '../words/word-hash.ts'
import { hashOf, KnownWords, NO_HASH, NO_OTHER } from './known-words.ts'

/** When there are so many, they are forgotten together. */
const MOST_KNOWN = 131_072

let known = new KnownWords()
let lists = 0

/**
 * The distinct words of the candidates, by number; what `indexWords` reads, without making a string of every one again. Lists are
 * filled one after the other: a new one ends those before it.
 */
export class WordList {
  readonly words: string[] = []
  /** By word: where it is among those that are known from one list to the next, and what is often asked of it. */
  readonly places: number[] = []
  readonly stemHashes: number[] = []
  readonly isTelling: boolean[] = []
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
    for (const word of indexWords(text.slice(start, end))) {
      const [hash, other] = [hashOf(word), fold(NO_OTHER, word, OTHER_PRIME)]
      const slot = this.known.slotOf(hash, other)
      into.push(this.#numberAt(slot < 0 ? this.known.add(word, hash, other) : slot))
    }
  }

  /** False when there is something that only `indexWords` knows how to read. */
  #readAscii(text: string, start: number, end: number, into: number[]): boolean {
    const { known } = this
    let first = -1
    let hash = NO_HASH
    let other = NO_OTHER
    for (let at = start; at <= end; at++) {
      const code = at < end ? text.charCodeAt(at) : 0
      if (code >= ASCII) return false
      const letter = LETTERS[code] as number
      if (letter !== 0) {
        if (first < 0) {
          first = at
          hash = NO_HASH
          other = NO_OTHER
        }
        hash = Math.imul(hash ^ letter, FNV_PRIME)
        other = Math.imul(other ^ letter, OTHER_PRIME)
      } else if (first >= 0) {
        if (at - first > LONGEST_WORD) return false
        const slot = known.slotOf(hash, other)
        into.push(this.#numberAt(slot < 0 ? known.add(text.slice(first, at).toLowerCase(), hash, other) : slot))
        first = -1
      }
    }
    return true
  }

  #numberAt(slot: number): number {
    const { known } = this
    const number = known.numberIn(this.#id, slot)
    if (number >= 0) return number
    const place = known.placeAt(slot)
    known.setNumber(this.#id, slot, this.words.length)
    this.places.push(place)
    this.stemHashes.push(known.stemHashes[place] as number)
    this.isTelling.push(known.isTelling[place] as boolean)
    return this.words.push(known.words[place] as string) - 1
  }
}
