import { indexWords, queryWords } from '../words/search-text.ts'

/**
 * The words of a text as they stand side by side in the index. The last character of a run without blanks stands there once more by
 * itself, but only at the end of the run, and the text that is looked for may go on.
 */
export function phraseWords(text: string): string[] {
  const words = indexWords(text)
  return words.at(-1) === queryWords(text).at(-1) ? words : words.slice(0, -1)
}
