import { PARAMETERS } from './parameters.ts'
import { isTelling, type QuestionTerm } from './question-terms.ts'
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

export function matchTerms(terms: readonly QuestionTerm[], list: WordList, meaning: TokenMeaning | null): TermMatches {
  const { words, stems } = list
  const matches: TermMatches = {
    terms: terms.length,
    values: new Float32Array(words.length * terms.length),
    isAny: new Uint8Array(words.length),
    isSame: new Uint8Array(words.length * terms.length),
  }
  if (meaning !== null) matchMeaning(matches, terms, list, meaning)
  matchForms(matches, terms, words, stems)
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
    if (!isTelling(list.words[word] as string)) return
    values[word * terms.length + term] = (Math.min(1, cosine - leastCosine) / (1 - leastCosine)) ** cosinePower
    isAny[word] = 1
  })
}

function matchForms(
  { values, isAny, isSame }: TermMatches,
  terms: readonly QuestionTerm[],
  words: readonly string[],
  stems: readonly string[],
): void {
  const { otherForm, beginning } = PARAMETERS
  const byStem = new Map(terms.map(({ stem }, number) => [stem, number]))
  const missing = new Set(terms.keys())
  for (let number = 0; number < words.length; number++) {
    const term = byStem.get(stems[number] as string)
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
