import { STOP_WORDS } from '../question/stop-words.ts'
import { queryWords } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'

/** A word of a question that says what is looked for. */
export interface QuestionTerm {
  word: string
  stem: string
}

// A longer question is an article, and its first words say what it is about.
const MOST_TERMS = 48
const LONGEST_QUESTION = 10_000
// Also a month, a victory, a taste: what says little is weighed little anyway.
const TELLING_TOO = new Set(['may', 'won', 'like', 'own'])

/** Each word once, whatever its form. Only of a question that has nothing else, words such as "what" and "the" count. */
export function questionTerms(question: string): QuestionTerm[] {
  const words = queryWords(question.slice(0, LONGEST_QUESTION))
  const telling = words.filter(isTelling)
  const terms = new Map<string, QuestionTerm>()
  for (const word of telling.length > 0 ? telling : words) {
    const stem = stemOf(word) ?? word
    if (!terms.has(stem)) terms.set(stem, { word, stem })
    if (terms.size === MOST_TERMS) break
  }
  return [...terms.values()]
}

/** Whether a word says what a text is about. */
export function isTelling(word: string): boolean {
  return !STOP_WORDS.has(word) || TELLING_TOO.has(word)
}
