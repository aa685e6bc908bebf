import type { Condition } from './condition.ts'
import { textWords } from './text-words.ts'

type Leaf = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>

/**
 * How many comparisons a run takes at most: one for each word of a Text and for each value that a list may hold, else one.
 * `ofSearch`: what one counts for that goes through a whole Text or list.
 */
export function comparisonsOf(condition: Condition, ofSearch = 1): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.operands.reduce((sum, operand) => sum + comparisonsOf(operand, ofSearch), 0)
    case 'not':
      return comparisonsOf(condition.operand, ofSearch)
    default: {
      const { type } = condition.field
      return type === 'Text' || type === 'KeywordList' ? searchesOf(condition) * ofSearch : 1
    }
  }
}

function searchesOf(condition: Leaf): number {
  if (condition.kind === 'in') return condition.values.length
  if (condition.kind !== 'compare' || condition.field.type !== 'Text') return 1
  return Math.max(1, textWords(String(condition.value)).length)
}
