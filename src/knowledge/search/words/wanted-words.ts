import type { Node, Question } from '../question/question.ts'
import { PICTURE } from './letter-signs.ts'
import { type PhrasePart, partsOfRun, phraseParts } from './phrase-parts.ts'
import { isUnspacedWord } from './search-text.ts'
import { stemOf } from './stem.ts'
import { UnspacedRun } from './unspaced-run.ts'
import { type WordPlace, wordPlaces } from './word-places.ts'

/** A place in a text that has something of the question. */
export interface Place {
  start: number
  end: number
  /** Which words of the question it has. */
  terms: number[]
  /** Where all of the phrase stands that it is a part of. */
  phrase?: { start: number; end: number }
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
  parts: readonly PhrasePart[]
  /** Of its first part; the others have the next ones. */
  term: number
  /** Places that have its first parts, one list for each beginning that may still go on: `bora bora` begins at every `bora`. */
  begun: Place[][]
}

/** Letters of a script without spaces. */
interface WantedRun {
  term: number
  /** Of these the first ones that a text has. */
  choices: string[][]
}

const MOST_PLACES = 300
const WIDEST_GAP = 40
const WORD = new RegExp(String.raw`[\p{L}\p{N}\p{M}]|${PICTURE}`, 'u')

/** The words of a question, ready to be looked for in texts. What stands behind NOT is none of them. */
export class WantedWords {
  readonly #byFirst = new Map<number, WantedWord[]>()
  readonly #phrases: WantedPhrase[] = []
  readonly #runs: WantedRun[] = []
  readonly #beginnings: ReadonlySet<number>
  #terms = 0

  constructor({ tree, whole }: Question) {
    if (tree !== null) this.#add(tree, whole !== undefined)
    if (whole !== undefined) this.#addRuns(whole)
    this.#beginnings = new Set(this.#byFirst.keys())
  }

  get isEmpty(): boolean {
    return this.#terms === 0
  }

  /** In the order of the text, not too many. */
  placesIn(text: string): Place[] {
    const places: Place[] = []
    const runs: UnspacedRun[] = []
    for (const phrase of this.#phrases) phrase.begun = []
    for (const found of wordPlaces(text, this.#beginnings)) {
      if (found instanceof UnspacedRun) {
        if (this.#runs.length > 0) runs.push(found)
        for (const phrase of this.#phrases) goOnInRun(phrase, found, text, places)
        continue
      }
      const terms: number[] = []
      for (const own of found.words) {
        const parts = new Map<WantedPhrase, WantedWord[]>()
        for (const wanted of this.#meant(own)) {
          if (wanted.phrase === null) terms.push(wanted.term)
          else parts.set(wanted.phrase, [...(parts.get(wanted.phrase) ?? []), wanted])
        }
        for (const [phrase, words] of parts) goOn(phrase, words, found, text, places)
      }
      if (terms.length > 0) places.push({ start: found.start, end: found.end, terms })
      if (places.length >= MOST_PLACES) break
    }
    for (const run of this.#runs) places.push(...placesInRuns(run, runs))
    return places.sort((one, other) => one.start - other.start).slice(0, MOST_PLACES)
  }

  /** Runs that are looked for otherwise are passed over. */
  #add(node: Node, isWithoutRuns: boolean): void {
    if (node.kind === 'and' || node.kind === 'or') for (const part of node.parts) this.#add(part, isWithoutRuns)
    else if (node.kind === 'phrase') this.#addPhrase(node.words, node.isBeginning)
    else if (node.kind === 'word' && !isUnspacedWord(node.word))
      this.#addWord({ word: node.word, stem: node.stem ?? node.word, isBeginning: true, phrase: null, index: 0 })
    else if (node.kind === 'word' && !isWithoutRuns) this.#addRun([[node.word]])
  }

  #addPhrase(words: readonly string[], isLastBeginning: boolean): void {
    const parts = phraseParts(words)
    const [only] = parts
    if (parts.length === 1 && only?.isRun === true) {
      this.#addRun([[only.text]])
      return
    }
    const phrase = parts.length < 2 ? null : { parts, term: this.#terms, begun: [] }
    if (phrase !== null) this.#phrases.push(phrase)
    for (const [index, { text, isRun }] of parts.entries()) {
      const isBeginning = isLastBeginning && index === parts.length - 1
      if (isRun) this.#terms++
      else this.#addWord({ word: text, stem: null, isBeginning, phrase, index })
    }
  }

  /** Where some of the question is enough, some of a run is, too. */
  #addRuns(node: Node): void {
    if (node.kind === 'and' || node.kind === 'or') for (const part of node.parts) this.#addRuns(part)
    if (node.kind !== 'word' && node.kind !== 'phrase') return
    for (const { text, isRun } of phraseParts(node.kind === 'word' ? [node.word] : node.words)) {
      if (isRun) this.#addRun(partsOfRun(text))
    }
  }

  #addRun(choices: string[][]): void {
    this.#runs.push({ term: this.#terms++, choices })
  }

  #addWord(wanted: Omit<WantedWord, 'term'>): void {
    const first = wanted.word.charCodeAt(0)
    const others = this.#byFirst.get(first) ?? []
    others.push({ ...wanted, term: this.#terms++ })
    this.#byFirst.set(first, others)
  }

  *#meant(own: string): Generator<WantedWord> {
    for (const wanted of this.#byFirst.get(own.charCodeAt(0)) ?? []) {
      if (isMeant(own, wanted)) yield wanted
    }
  }
}

/** A word that is these of a phrase: each beginning that it stands beside goes on with it, and all others end. */
function goOn(
  phrase: WantedPhrase,
  words: readonly WantedWord[],
  found: WordPlace,
  text: string,
  places: Place[],
): void {
  const before = phrase.begun
  phrase.begun = []
  for (const { term, index } of words) {
    const place = { start: found.start, end: found.end, terms: [term] }
    addPart(phrase, index, place, before, text, places)
  }
}

/** Likewise. Between its first and its last part a phrase has whole runs only. */
function goOnInRun(phrase: WantedPhrase, run: UnspacedRun, text: string, places: Place[]): void {
  if (!phrase.parts.some(({ isRun }) => isRun)) return
  let from = 0
  for (const letters of run.letters.split(' ')) {
    const parts = [...phrase.parts.entries()].filter(
      ([index, { text: wanted, isRun }]) => isRun && isPartOf(letters, wanted, index, phrase),
    )
    const before = phrase.begun
    if (parts.length > 0) phrase.begun = []
    for (const [index, part] of parts) {
      const start = index === 0 ? from + letters.length - part.text.length : from
      const place = { ...run.placeOf(start, start + part.text.length), terms: [phrase.term + index] }
      addPart(phrase, index, place, before, text, places)
    }
    from += letters.length + 1
  }
}

function isPartOf(letters: string, wanted: string, index: number, { parts }: WantedPhrase): boolean {
  if (index === 0) return letters.endsWith(wanted)
  return index === parts.length - 1 ? letters.startsWith(wanted) : letters === wanted
}

/** A part with this index begins the phrase, or goes on with what begins so; the last one completes it. */
function addPart(
  phrase: WantedPhrase,
  index: number,
  place: Place,
  before: readonly Place[][],
  text: string,
  places: Place[],
): void {
  const begun = index === 0 ? [] : before.find((parts) => parts.length === index && isBeside(parts, place, text))
  if (begun === undefined) return
  const parts = [...begun, place]
  if (parts.length < phrase.parts.length) {
    phrase.begun.push(parts)
    return
  }
  const whole = { start: (parts[0] as Place).start, end: place.end }
  for (const part of parts) places.push({ ...part, phrase: whole })
}

function placesInRuns({ term, choices }: WantedRun, runs: readonly UnspacedRun[]): Place[] {
  for (const texts of choices) {
    const places = texts.flatMap((text) => placesOfText(text, term, runs))
    if (places.length > 0) return places
  }
  return []
}

function placesOfText(text: string, term: number, runs: readonly UnspacedRun[]): Place[] {
  const places: Place[] = []
  for (const run of runs) {
    for (let at = run.letters.indexOf(text); at !== -1; at = run.letters.indexOf(text, at + 1)) {
      places.push({ ...run.placeOf(at, at + text.length), terms: [term] })
      if (places.length >= MOST_PLACES) return places
    }
  }
  return places
}

function isMeant(own: string, { word, stem, isBeginning }: WantedWord): boolean {
  if (!isBeginning) return own === word
  return own.startsWith(word) || (stem !== null && isOfStem(own, word, stem))
}

/** Making a stem is slow, and words of one stem begin alike. */
function isOfStem(own: string, word: string, stem: string): boolean {
  return own[1] === word[1] && (stemOf(own) ?? own) === stem
}

function isBeside(parts: readonly Place[], { start }: { start: number }, text: string): boolean {
  const last = parts.at(-1)
  const end = last?.end ?? 0
  // One sign may be several words, as ½ is.
  if (last?.start === start) return true
  return start >= end && start - end <= WIDEST_GAP && !WORD.test(text.slice(end, start))
}
