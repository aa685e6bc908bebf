import { MOST_TERMS, piecesOf, type Question, wordTerms } from './question.ts'
import { STOP_WORDS } from './stop-words.ts'

/** A plain question asked for any of its words that say something; null for one with operators or quotes, or of one word. */
export function anyWord(question: Question): Question | null {
  if (!question.isPlain || question.tree === null) return null
  const words = [...new Set(question.words)]
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  // The words of a phrase are more than are looked for one by one.
  const asked = (telling.length > 0 ? telling : words).slice(0, MOST_TERMS)
  if (words.length < 2) return null
  return { ...question, tree: { kind: 'or', parts: wordTerms(asked) }, whole: question.tree, words: asked }
}

/** Written as people speak: three words or more, of which some only hold the others together. */
export function isSpoken({ tree, isPlain, isGrouped }: Question): boolean {
  if (!isPlain || isGrouped || tree === null) return false
  const pieces = piecesOf(tree)
  return pieces.length >= 3 && pieces.some((words) => words.every((word) => STOP_WORDS.has(word)))
}
