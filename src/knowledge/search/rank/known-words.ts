import { ownText } from '../../text/own-text.ts'
import { stemOf } from '../words/stem.ts'
import { fold } from '../words/word-hash.ts'
import { isTelling } from './question-terms.ts'

/** Of no letters. Others in every process: nobody can write words that all have the same, in one of them or in both. */
export const NO_HASH = randomHash()
export const NO_OTHER = randomHash()
const FIRST_SIZE = 1 << 14
/**
 * What a slot has: two hashes, which list had the word last, and under which number. It is reading memory here and there that takes the
 * time, so they lie side by side, and words that have both hashes in common are taken for the same: by chance there are none.
 */
const [HASH, OTHER, LIST, NUMBER, SLOT] = [0, 1, 2, 3, 4]

/**
 * Words of all texts so far, with what is the same wherever they stand. Texts have most of their words in common, and a stem takes
 * longer to find than everything else that is done with a word.
 */
export class KnownWords {
  /** By place. */
  readonly words: string[] = []
  readonly stems: string[] = []
  /** The hash of each stem. */
  readonly stemHashes: number[] = []
  readonly isTelling: boolean[] = []
  /** Open addressing; of an empty slot both hashes are 0. At most half of them is filled. */
  #slots = new Int32Array(SLOT * FIRST_SIZE)
  /** By slot. */
  #places = new Int32Array(FIRST_SIZE)

  get size(): number {
    return this.words.length
  }

  /** The slot of the word of these hashes; -1 when it is not known. Adding words moves it. */
  slotOf(hash: number, other: number): number {
    const slots = this.#slots
    const mask = this.#places.length - 1
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const [ownHash, ownOther] = [slots[SLOT * slot + HASH], slots[SLOT * slot + OTHER]]
      if (ownHash === hash && ownOther === other) return slot
      if (ownHash === 0 && ownOther === 0) return -1
    }
  }

  /** What `setNumber` was told for this list, if that was the last one; else -1. */
  numberIn(list: number, slot: number): number {
    return this.#slots[SLOT * slot + LIST] === list ? (this.#slots[SLOT * slot + NUMBER] as number) : -1
  }

  setNumber(list: number, slot: number, number: number): void {
    this.#slots[SLOT * slot + LIST] = list
    this.#slots[SLOT * slot + NUMBER] = number
  }

  placeAt(slot: number): number {
    return this.#places[slot] as number
  }

  /** A word that is not known, in lower case. */
  add(word: string, hash: number, other: number): number {
    const own = ownText(word)
    const stem = stemOf(own) ?? own
    const place = this.words.push(own) - 1
    this.stems.push(stem)
    this.stemHashes.push(hashOf(stem))
    this.isTelling.push(isTelling(own))
    if (this.words.length * 2 > this.#places.length) this.#grow()
    const slot = this.#freeSlot(hash)
    this.#slots[SLOT * slot + HASH] = hash
    this.#slots[SLOT * slot + OTHER] = other
    this.#places[slot] = place
    return slot
  }

  #freeSlot(hash: number): number {
    const mask = this.#places.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#slots[SLOT * slot + HASH] !== 0 || this.#slots[SLOT * slot + OTHER] !== 0) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [slots, places] = [this.#slots, this.#places]
    this.#slots = new Int32Array(2 * slots.length)
    this.#places = new Int32Array(2 * places.length)
    for (let old = 0; old < places.length; old++) {
      const entry = slots.subarray(SLOT * old, SLOT * (old + 1))
      if (entry[HASH] === 0 && entry[OTHER] === 0) continue
      const slot = this.#freeSlot(entry[HASH] as number)
      this.#slots.set(entry, SLOT * slot)
      this.#places[slot] = places[old] as number
    }
  }
}

/** Of a word as it is kept. */
export function hashOf(word: string): number {
  return fold(NO_HASH, word)
}

function randomHash(): number {
  return Math.floor(Math.random() * 2 ** 32) | 0
}
