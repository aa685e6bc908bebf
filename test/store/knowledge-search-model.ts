import type { Node } from '../../src/knowledge/search/question/question.ts'
import { indexWords } from '../../src/knowledge/search/words/search-text.ts'
import { stemOf } from '../../src/knowledge/search/words/stem.ts'

/** Whether a note answers a question, by reading all of it. Its texts stand apart: no phrase goes from one into the next. */
export function answers(node: Node, texts: readonly string[]): boolean {
  switch (node.kind) {
    case 'word':
      return texts.flatMap(indexWords).some((word) => isMeant(word, node.word, node.stem))
    case 'phrase':
      return texts.some((text) => hasPhrase(indexWords(text), node.words, node.isBeginning))
    case 'not':
      return !answers(node.part, texts)
    case 'and':
      return node.parts.every((part) => answers(part, texts))
    case 'or':
      return node.parts.some((part) => answers(part, texts))
  }
}

function isMeant(own: string, word: string, stem: string | null): boolean {
  return own.startsWith(word) || own === stem || stemOf(own) === (stem ?? word)
}

function hasPhrase(own: readonly string[], words: readonly string[], isBeginning: boolean): boolean {
  return own.some((_, start) =>
    words.every((word, index) => {
      const other = own[start + index] ?? ''
      return isBeginning && index === words.length - 1 ? other.startsWith(word) : other === word
    }),
  )
}
