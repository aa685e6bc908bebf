import type { Node, Question } from './question/question.ts'
import { stemOf } from './stem.ts'
import { isUnspaced, type WordPlace, wordPlaces } from './word-places.ts'

/** A place in a text that has something of the question. */
export interface Place {
  start: number
  end: number
  /** Which words of the question it has. */
  terms: number[]
}

interface WantedWord {
  term: number
  word: string
  /** Null: no other form of the word is meant. */
  stem: string | null
  /** Whether words that begin with it are meant. */
  isBeginning: boolean
  /** Null: counts by itself. */
  phrase: WantedPhrase | null
  index: number
}

interface WantedPhrase {
  length: number
  /** The places that have its first words. */
  begun: Place[]
}

const MOST_PLACES = 300
const WIDEST_GAP = 40
const LETTER = /[\p{L}\p{N}\p{M}]/u

/** The words of a question, ready to be looked for in texts. What stands behind NOT is none of them. */
export class WantedWords {
  readonly #byFirst = new Map<number, WantedWord[]>()
  readonly #phrases: WantedPhrase[] = []
  readonly #beginnings: ReadonlySet<number>
  #terms = 0

  constructor({ tree }: Question) {
    if (tree !== null) this.#add(tree)
    this.#beginnings = new Set(this.#byFirst.keys())
  }

  get isEmpty(): boolean {
    return this.#terms === 0
  }

  /** In the order of the text, not too many. */
  placesIn(text: string): Place[] {
    const places: Place[] = []
    for (const phrase of this.#phrases) phrase.begun = []
    for (const found of wordPlaces(text, this.#beginnings)) {
      const terms: number[] = []
      for (const wanted of this.#at(found)) {
        if (wanted.phrase === null) terms.push(wanted.term)
        else this.#goOn(wanted, wanted.phrase, found, text, places)
      }
      if (terms.length > 0) places.push({ start: found.start, end: found.end, terms })
      if (places.length >= MOST_PLACES) break
    }
    return places.sort((one, other) => one.start - other.start)
  }

  #add(node: Node): void {
    if (node.kind === 'and' || node.kind === 'or') for (const part of node.parts) this.#add(part)
    else if (node.kind === 'word')
      this.#addWord({ word: node.word, stem: node.stem ?? node.word, isBeginning: true, phrase: null, index: 0 })
    else if (node.kind === 'phrase') this.#addPhrase(node.words, node.isBeginning)
  }

  #addPhrase(words: readonly string[], isLastBeginning: boolean): void {
    // Pairs of characters overlap; they are shown one by one.
    const isPlain = words.length < 2 || words.some(isUnspaced)
    const phrase = isPlain ? null : { length: words.length, begun: [] }
    if (phrase !== null) this.#phrases.push(phrase)
    for (const [index, word] of words.entries()) {
      const isBeginning = isLastBeginning && index === words.length - 1
      this.#addWord({ word, stem: null, isBeginning, phrase, index })
    }
  }

  #addWord(wanted: Omit<WantedWord, 'term'>): void {
    const first = wanted.word.charCodeAt(0)
    const others = this.#byFirst.get(first) ?? []
    others.push({ ...wanted, term: this.#terms++ })
    this.#byFirst.set(first, others)
  }

  *#at({ words, isExact }: WordPlace): Generator<WantedWord> {
    for (const own of words) {
      for (const wanted of this.#byFirst.get(own.charCodeAt(0)) ?? []) {
        if (isMeant(own, wanted, isExact)) yield wanted
      }
    }
  }

  /** One more word of a phrase, where all words before it stand beside it; the last one completes it. */
  #goOn({ term, index }: WantedWord, phrase: WantedPhrase, found: WordPlace, text: string, places: Place[]): void {
    const last = phrase.begun.at(-1)
    const isNext = index > 0 && phrase.begun.length === index && isBeside(text, last?.end ?? 0, found.start)
    if (!isNext && index > 0) return
    if (!isNext) phrase.begun = []
    phrase.begun.push({ start: found.start, end: found.end, terms: [term] })
    if (phrase.begun.length < phrase.length) return
    places.push(...phrase.begun)
    phrase.begun = []
  }
}

function isMeant(own: string, { word, stem, isBeginning }: WantedWord, isExact: boolean): boolean {
  if (isExact || !isBeginning) return own === word
  return own.startsWith(word) || (stem !== null && isOfStem(own, word, stem))
}

/** Making a stem is slow, and words of one stem begin alike. */
function isOfStem(own: string, word: string, stem: string): boolean {
  return own[1] === word[1] && (stemOf(own) ?? own) === stem
}

function isBeside(text: string, end: number, start: number): boolean {
  return start >= end && start - end <= WIDEST_GAP && !LETTER.test(text.slice(end, start))
}
