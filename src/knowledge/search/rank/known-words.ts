import { ownText } from '../../text/own-text.ts'
import { stemOf } from '../stem.ts'

export const ASCII = 128
/** By character code: as it stands in a word, in lower case; 0 when it ends one. */
export const LETTERS = new Uint8Array(ASCII)
for (let code = 0; code < ASCII; code++) {
  const letter = String.fromCharCode(code).toLowerCase()
  if (/[a-z0-9]/.test(letter)) LETTERS[code] = letter.charCodeAt(0)
}

/** Of no letters. Another one in every process: nobody can write words that all have the same. */
export const NO_HASH = Math.floor(Math.random() * 2 ** 32) | 0
const PRIME = 0x01000193
const FIRST_SIZE = 1 << 14

/** The hash of some letters and one more. */
export function addToHash(hash: number, letter: number): number {
  return Math.imul(hash ^ letter, PRIME)
}

/**
 * Words of all texts so far, with what is the same wherever they stand. Texts have most of their words in common, and a stem takes
 * longer to find than everything else that is done with a word.
 */
export class KnownWords {
  /** By place. */
  readonly words: string[] = []
  readonly stems: string[] = []
  /** For the list that is being filled: which one had the word last, and under which number. */
  readonly lists: number[] = []
  readonly numbers: number[] = []
  readonly #hashes: number[] = []
  /** Open addressing: place + 1, or 0. At most half of it is filled. */
  #slots = new Int32Array(FIRST_SIZE)

  get size(): number {
    return this.words.length
  }

  /** The place of the word that stands in the text, in whatever case; of its letters in lower case this is the hash. */
  placeOf(text: string, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (let known = this.#slots[slot] as number; known !== 0; known = this.#slots[slot] as number) {
      const place = known - 1
      if (this.#hashes[place] === hash && isWord(this.words[place] as string, text, start, end)) return place
      slot = (slot + 1) & mask
    }
    return this.#add(slot, ownText(text.slice(start, end).toLowerCase()), hash)
  }

  #add(slot: number, word: string, hash: number): number {
    this.#slots[slot] = this.words.push(word)
    this.stems.push(stemOf(word) ?? word)
    this.lists.push(0)
    this.numbers.push(0)
    this.#hashes.push(hash)
    if (this.words.length * 2 > this.#slots.length) this.#grow()
    return this.words.length - 1
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (const [place, hash] of this.#hashes.entries()) {
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
