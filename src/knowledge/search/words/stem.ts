import { stemmer } from 'stemmer'
import { ownText } from '../../text/own-text.ts'

const ENGLISH = /^[a-z]{3,40}$/
// The last letter of these is not in all words that have the stem: `happi` is that of happy, `hope` that of hoping.
const UNSURE_END = /(?:[ei]|(?<=b)l)$/
const MOST_KEPT = 20_000

const kept = new Map<string, string | null>()

/** The English stem of a word as the index has it, where it has one that differs from the word. */
export function stemOf(word: string): string | null {
  const known = kept.get(word)
  if (known !== undefined) return known
  const own = ownText(word)
  const stem = ENGLISH.test(own) ? stemmer(own) : own
  // A stem of one or two letters says nothing.
  const found = stem === own || stem.length < 3 ? null : stem
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(own, found)
  return found
}

/** What a word begins with, and all words of the same stem. */
export function formsBegin(word: string): string {
  return ENGLISH.test(word) ? (stemOf(word) ?? word).replace(UNSURE_END, '') : word
}
