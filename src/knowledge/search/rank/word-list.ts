import { indexWords, LONGEST_WORD } from '../search-text.ts'
import { stemOf } from '../stem.ts'

const ASCII = 128
/** By character code: as it stands in a word, in lower case; 0 when it ends one. */
const LETTERS = new Uint8Array(ASCII)
for (let code = 0; code < ASCII; code++) {
  const letter = String.fromCharCode(code).toLowerCase()
  if (/[a-z0-9]/.test(letter)) LETTERS[code] = letter.charCodeAt(0)
}
const FIRST_SIZE = 1 << 14

/** The distinct words of the candidates, by number; what `indexWords` reads, without making a string of every one again. */
export class WordList {
  readonly words: string[] = []
  /** By word. */
  readonly stems: string[] = []
  readonly #hashes: number[] = []
  /** Open addressing: word number + 1, or 0. At most half of it is filled. */
  #slots = new Int32Array(FIRST_SIZE)

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
    let hash = 0
    for (let at = start; at <= end; at++) {
      const code = at < end ? text.charCodeAt(at) : 0
      if (code >= ASCII) return false
      const letter = LETTERS[code] as number
      if (letter !== 0) {
        if (first < 0) {
          first = at
          hash = 0
        }
        hash = (Math.imul(hash, 31) + letter) | 0
      } else if (first >= 0) {
        if (at - first > LONGEST_WORD) return false
        into.push(this.#numberOf(text, first, at, hash))
        first = -1
      }
    }
    return true
  }

  #numberOf(text: string, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (let number = this.#slots[slot] as number; number !== 0; number = this.#slots[slot] as number) {
      if (this.#hashes[number - 1] === hash && isWord(this.words[number - 1] as string, text, start, end))
        return number - 1
      slot = (slot + 1) & mask
    }
    const word = text.slice(start, end).toLowerCase()
    this.#slots[slot] = this.words.push(word)
    this.stems.push(stemOf(word) ?? word)
    this.#hashes.push(hash)
    if (this.words.length * 2 > this.#slots.length) this.#grow()
    return this.words.length - 1
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (const [number, hash] of this.#hashes.entries()) {
      let slot = (hash ^ (hash >>> 15)) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = number + 1
    }
  }
}

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < word.length; at++) hash = (Math.imul(hash, 31) + word.charCodeAt(at)) | 0
  return hash
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
