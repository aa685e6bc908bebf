import { PICTURE } from './letter-signs.ts'
import type { PhrasePart } from './phrase-parts.ts'
import type { Place } from './place.ts'
import type { UnspacedRun } from './unspaced-run.ts'
import type { WordPlace } from './word-places.ts'

const WIDEST_GAP = 40
const WORD = new RegExp(String.raw`[\p{L}\p{N}\p{M}]|${PICTURE}`, 'u')

/** A phrase of a question, which is told what a text has, in the order of the text. */
export class WantedPhrase {
  readonly #parts: readonly PhrasePart[]
  readonly #hasRuns: boolean
  /** Of its first part; the others have the next ones. */
  readonly #term: number
  #text = ''
  /** Where what it finds goes. */
  #places: Place[] = []
  /** Places that have its first parts, one list for each beginning that may still go on: `bora bora` begins at every `bora`. */
  #begun: Place[][] = []

  constructor(parts: readonly PhrasePart[], term: number) {
    this.#parts = parts
    this.#hasRuns = parts.some(({ isRun }) => isRun)
    this.#term = term
  }

  beginText(text: string, places: Place[]): void {
    this.#text = text
    this.#places = places
    this.#begun = []
  }

  /** A word that is these of its parts: each beginning that it stands beside goes on with it, and all others end. */
  goOn(indexes: readonly number[], { start, end }: WordPlace): void {
    const before = this.#begun
    this.#begun = []
    for (const index of indexes) this.#addPart(index, { start, end, terms: [this.#term + index] }, before)
  }

  /** Likewise. Between its first and its last part a phrase has whole runs only. */
  goOnInRun(run: UnspacedRun): void {
    if (!this.#hasRuns) return
    let from = 0
    for (const letters of run.letters.split(' ')) {
      const parts = [...this.#parts.entries()].filter(
        ([index, { text, isRun }]) => isRun && this.#isPartOf(letters, text, index),
      )
      const before = this.#begun
      if (parts.length > 0) this.#begun = []
      for (const [index, { text }] of parts) {
        const start = index === 0 ? from + letters.length - text.length : from
        this.#addPart(index, { ...run.placeOf(start, start + text.length), terms: [this.#term + index] }, before)
      }
      from += letters.length + 1
    }
  }

  #isPartOf(letters: string, wanted: string, index: number): boolean {
    if (index === 0) return letters.endsWith(wanted)
    return index === this.#parts.length - 1 ? letters.startsWith(wanted) : letters === wanted
  }

  /** A part with this index begins the phrase, or goes on with what began `before`; the last one completes it. */
  #addPart(index: number, place: Place, before: readonly Place[][]): void {
    const begun = index === 0 ? [] : before.find((parts) => parts.length === index && this.#isBeside(parts, place))
    if (begun === undefined) return
    const parts = [...begun, place]
    if (parts.length < this.#parts.length) {
      this.#begun.push(parts)
      return
    }
    const phrase = { start: (parts[0] as Place).start, end: place.end }
    for (const part of parts) this.#places.push({ ...part, phrase })
  }

  #isBeside(parts: readonly Place[], { start }: Place): boolean {
    const last = parts.at(-1)
    const end = last?.end ?? 0
    // One sign may be several words, as ½ is.
    if (last?.start === start) return true
    return start >= end && start - end <= WIDEST_GAP && !WORD.test(this.#text.slice(end, start))
  }
}
