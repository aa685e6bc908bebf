import { stemmer } from 'stemmer'

const ENGLISH = /^[a-z]{3,40}$/
const MOST_KEPT = 20_000

const kept = new Map<string, string | null>()

/** The English stem of a word as the index has it, where it has one that differs from the word. */
export function stemOf(word: string): string | null {
  const known = kept.get(word)
  if (known !== undefined) return known
  const stem = ENGLISH.test(word) ? stemmer(word) : word
  // A stem of one or two letters says nothing.
  const found = stem === word || stem.length < 3 ? null : stem
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(word, found)
  return found
}
