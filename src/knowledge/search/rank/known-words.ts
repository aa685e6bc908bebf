import { ownText } from '../../text/own-text.ts'
import { ASCII, LETTERS } from '../words/ascii-letters.ts'
import { stemOf } from '../words/stem.ts'
import { FNV_PRIME } from '../words/word-hash.ts'

/** Of no letters. Another one in every process: nobody can write words that all have the same. */
export const NO_HASH = Math.floor(Math.random() * 2 ** 32) | 0
const FIRST_SIZE = 1 << 14
const ENTRY = 3

/** The hash of some letters and one more. */
export function addToHash(hash: number, letter: number): number {
  return Math.imul(hash ^ letter, FNV_PRIME)
}

/**
 * Words of all texts so far, with what is the same wherever they stand. Texts have most of their words in common, and a stem takes
 * longer to find than everything else that is done with a word.
 */
export class KnownWords {
  /** By place. */
  readonly words: string[] = []
  readonly stems: string[] = []
  /** Open addressing: place + 1, or 0. At most half of it is filled. */
  #slots = new Int32Array(FIRST_SIZE)
  /** Of each place one after the other: its hash, which list had the word last, and under which number. */
  #entries = new Int32Array((ENTRY * FIRST_SIZE) / 2)

  get size(): number {
    return this.words.length
  }

  /** The place of the word that stands in the text, in whatever case; of its letters in lower case this is the hash. */
  placeOf(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (let known = slots[slot] as number; known !== 0; known = slots[slot] as number) {
      const place = known - 1
      const isSame = this.#entries[ENTRY * place] === hash && isWord(this.words[place] as string, text, start, end)
      if (isSame) return place
      slot = (slot + 1) & mask
    }
    return this.#add(slot, ownText(text.slice(start, end).toLowerCase()), hash)
  }

  /** What `setNumber` was told for this list, if that was the last one; else -1. */
  numberIn(list: number, place: number): number {
    return this.#entries[ENTRY * place + 1] === list ? (this.#entries[ENTRY * place + 2] as number) : -1
  }

  setNumber(list: number, place: number, number: number): void {
    this.#entries[ENTRY * place + 1] = list
    this.#entries[ENTRY * place + 2] = number
  }

  #add(slot: number, word: string, hash: number): number {
    const place = this.words.push(word) - 1
    this.stems.push(stemOf(word) ?? word)
    this.#slots[slot] = place + 1
    this.#entries[ENTRY * place] = hash
    if (this.words.length * 2 >= this.#slots.length) this.#grow()
    return place
  }

  #grow(): void {
    const entries = new Int32Array(2 * this.#entries.length)
    entries.set(this.#entries)
    this.#entries = entries
    this.#slots = new Int32Array(2 * this.#slots.length)
    const mask = this.#slots.length - 1
    for (let place = 0; place < this.words.length; place++) {
      const hash = entries[ENTRY * place] as number
      let slot = (hash ^ (hash >>> 15)) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = place + 1
    }
  }
}

/** Whether the word stands there, in whatever case; a word beyond ASCII has none. */
function isWord(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false
  for (let at = 0; at < word.length; at++) {
    const code = text.charCodeAt(start + at)
    if (word.charCodeAt(at) !== (code < ASCII ? LETTERS[code] : code)) return false
  }
  return true
}
