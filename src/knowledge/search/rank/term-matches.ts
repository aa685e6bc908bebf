import { hashOf } from './known-words.ts'
import { PARAMETERS } from './parameters.ts'
import type { QuestionTerm } from './question-terms.ts'
import type { TokenMeaning } from './token-meaning.ts'
import type { WordList } from './word-list.ts'

/** How well each word of the candidates stands for each term of the question. */
export interface TermMatches {
  terms: number
  /** At word * terms + term: from 0 to 1. */
  values: Float32Array
  /** By word: whether any of its values is above 0. */
  isAny: Uint8Array
  /** At word * terms + term: 1 when it is the term, in whatever form. */
  isSame: Uint8Array
}

const HASH_ENDS = 1_024

export function matchTerms(terms: readonly QuestionTerm[], list: WordList, meaning: TokenMeaning | null): TermMatches {
  const { words } = list
  const matches: TermMatches = {
    terms: terms.length,
    values: new Float32Array(words.length * terms.length),
    isAny: new Uint8Array(words.length),
    isSame: new Uint8Array(words.length * terms.length),
  }
  if (meaning !== null) matchMeaning(matches, terms, list, meaning)
  matchForms(matches, terms, list)
  return matches
}

function matchMeaning(
  { values, isAny }: TermMatches,
  terms: readonly QuestionTerm[],
  list: WordList,
  meaning: TokenMeaning,
): void {
  const { leastCosine, cosinePower } = PARAMETERS
  const asked = terms.map(({ word }) => word)
  meaning.nearWords(asked, list, leastCosine, (term, word, cosine) => {
    if (!list.isTelling[word]) return
    values[word * terms.length + term] = (Math.min(1, cosine - leastCosine) / (1 - leastCosine)) ** cosinePower
    isAny[word] = 1
  })
}

function matchForms(
  { values, isAny, isSame }: TermMatches,
  terms: readonly QuestionTerm[],
  { words, places, stemHashes, known }: WordList,
): void {
  const { otherForm, beginning } = PARAMETERS
  const byStem = new Map(terms.map(({ stem }, number) => [stem, number]))
  // Nearly all words have the stem of no term, which the ends of their hashes tell.
  const ends = new Uint8Array(HASH_ENDS)
  for (const { stem } of terms) ends[hashOf(stem) & (HASH_ENDS - 1)] = 1
  const missing = new Set(terms.keys())
  for (let number = 0; number < words.length; number++) {
    if (ends[(stemHashes[number] as number) & (HASH_ENDS - 1)] === 0) continue
    const term = byStem.get(known.stems[places[number] as number] as string)
    if (term === undefined) continue
    missing.delete(term)
    const at = number * terms.length + term
    isSame[at] = 1
    values[at] = terms[term]?.word === words[number] ? 1 : Math.max(values[at] as number, otherForm)
    isAny[number] = 1
  }
  for (const term of missing) {
    const { word: asked } = terms[term] as QuestionTerm
    for (const [number, word] of words.entries()) {
      if (!word.startsWith(asked)) continue
      const at = number * terms.length + term
      isSame[at] = 1
      values[at] = Math.max(values[at] as number, beginning)
      isAny[number] = 1
    }
  }
}
