import type { TokenTable } from '../../semantic/builtin/model-file.ts'
import { NearWords } from './near-words.ts'
import type { WordList } from './word-list.ts'

/** What the built-in model's table says of single words. */
export interface TokenMeaning {
  /** How much each word says about what a text means: about 0.5 for "the", 2 for a rare noun, 1 for what the model does not know. */
  weightsOf(words: readonly string[]): Float32Array
  /** Calls `found` for each pair whose cosine is above `least`. A list must not change between calls. */
  nearWords(
    terms: readonly string[],
    list: WordList,
    least: number,
    found: (term: number, word: number, cosine: number) => void,
  ): void
}

export function createTokenMeaning(table: TokenTable): TokenMeaning {
  const near = new NearWords(table)
  return {
    weightsOf: (words) => Float32Array.from(words, (word) => near.lengthOf(word) || 1),
    nearWords: (terms, list, least, found) => near.find(terms, list, least, found),
  }
}
