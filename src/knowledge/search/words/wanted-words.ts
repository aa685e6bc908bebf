import type { Node, Question } from '../question/question.ts'
import { partsOfRun, phraseParts } from './phrase-parts.ts'
import { MOST_PLACES, type Place } from './place.ts'
import { isUnspacedWord } from './search-text.ts'
import { stemOf } from './stem.ts'
import { UnspacedRun } from './unspaced-run.ts'
import { WantedPhrase } from './wanted-phrase.ts'
import { wordPlaces } from './word-places.ts'

interface WantedWord {
  term: number
  word: string
  /** Null: no other form of the word is meant. */
  stem: string | null
  /** Whether words that begin with it are meant. */
  isBeginning: boolean
}

/** Letters of a script without spaces. */
interface WantedRun {
  term: number
  /** Of these the first ones that a text has. */
  choices: string[][]
}

/** The words of a question, ready to be looked for in texts. What stands behind NOT is none of them. */
export class WantedWords {
  readonly #byFirst = new Map<number, WantedWord[]>()
  readonly #phrases: WantedPhrase[] = []
  readonly #runs: WantedRun[] = []
  /** What words begin with that count, by themselves or in a phrase. */
  readonly #beginnings = new Set<number>()
  #terms = 0

  constructor({ tree, whole }: Question) {
    if (tree !== null) this.#add(tree, whole !== undefined)
    if (whole !== undefined) this.#addRuns(whole)
  }

  get isEmpty(): boolean {
    return this.#terms === 0
  }

  /** In the order of the text, not too many. */
  placesIn(text: string): Place[] {
    const places: Place[] = []
    const runs: UnspacedRun[] = []
    for (const phrase of this.#phrases) phrase.beginText(text, places)
    for (const found of wordPlaces(text, this.#beginnings)) {
      if (places.length >= MOST_PLACES) break
      if (found instanceof UnspacedRun) {
        if (this.#runs.length > 0) runs.push(found)
        for (const phrase of this.#phrases) phrase.goOnInRun(found)
        continue
      }
      const terms: number[] = []
      for (const own of found.words) {
        for (const wanted of this.#byFirst.get(own.charCodeAt(0)) ?? []) {
          if (isMeant(own, wanted)) terms.push(wanted.term)
        }
        for (const phrase of this.#phrases) phrase.goOn(own, found)
      }
      if (terms.length > 0) places.push({ start: found.start, end: found.end, terms })
    }
    const letters = runs.map((run) => run.letters).join(' ')
    for (const run of this.#runs) places.push(...placesInRuns(run, runs, letters))
    return places.sort((one, other) => one.start - other.start).slice(0, MOST_PLACES)
  }

  /** Runs that are looked for otherwise are passed over. */
  #add(node: Node, isWithoutRuns: boolean): void {
    if (node.kind === 'and' || node.kind === 'or') for (const part of node.parts) this.#add(part, isWithoutRuns)
    else if (node.kind === 'phrase') this.#addPhrase(node.words, node.isBeginning)
    else if (node.kind === 'word' && !isUnspacedWord(node.word))
      this.#addWord({ word: node.word, stem: node.stem ?? node.word, isBeginning: true })
    else if (node.kind === 'word' && !isWithoutRuns) this.#addRun([[node.word]])
  }

  #addPhrase(words: readonly string[], isLastBeginning: boolean): void {
    const parts = phraseParts(words)
    const [only] = parts
    if (parts.length === 1 && only?.isRun === true) {
      this.#addRun([[only.text]])
      return
    }
    if (parts.length === 1 && only !== undefined) {
      this.#addWord({ word: only.text, stem: null, isBeginning: isLastBeginning })
      return
    }
    this.#phrases.push(new WantedPhrase(parts, isLastBeginning, this.#terms))
    this.#terms += parts.length
    for (const { text, isRun } of parts) if (!isRun) this.#beginnings.add(text.charCodeAt(0))
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
    this.#beginnings.add(first)
  }
}

/** `letters`: of all runs, with a blank between two. */
function placesInRuns({ term, choices }: WantedRun, runs: readonly UnspacedRun[], letters: string): Place[] {
  for (const texts of choices) {
    const places = texts.flatMap((text) => placesOfText(text, term, runs, letters))
    if (places.length > 0) return places
  }
  return []
}

/** Looked for in all runs at once: a text may be nothing but short ones. */
function placesOfText(text: string, term: number, runs: readonly UnspacedRun[], letters: string): Place[] {
  const places: Place[] = []
  let index = 0
  let begin = 0
  for (let at = letters.indexOf(text); at !== -1; at = letters.indexOf(text, at + 1)) {
    let run = runs[index] as UnspacedRun
    while (at >= begin + run.letters.length) {
      begin += run.letters.length + 1
      run = runs[++index] as UnspacedRun
    }
    places.push({ ...run.placeOf(at - begin, at - begin + text.length), terms: [term] })
    if (places.length >= MOST_PLACES) return places
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
