import type { Condition } from './condition.ts'
import { textWords } from './text-words.ts'

/** How many comparisons a run takes at most: one for each word of a Text and for each value that a list may hold, else one. */
export function comparisonsOf(condition: Condition): number {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.operands.reduce((sum, operand) => sum + comparisonsOf(operand), 0)
    case 'not':
      return comparisonsOf(condition.operand)
    case 'compare':
      return condition.field.type === 'Text' ? Math.max(1, textWords(String(condition.value)).length) : 1
    case 'in':
      return condition.field.type === 'KeywordList' ? condition.values.length : 1
    default:
      return 1
  }
}
