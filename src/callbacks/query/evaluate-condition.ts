import { compareCodePoints } from './code-points.ts'
import type { CompareOperator, Comparison, Condition, Value } from './condition.ts'
import type { Field } from './fields.ts'
import { textWords } from './text-words.ts'

/** True, false, or unknown where NULL takes part; only true is a match. */
export type Truth = boolean | null

/** What a run has in a field: nothing for NULL, several only in a list. */
export type ReadField = (field: Field) => readonly Value[]

/** What a condition means, run by run. The SQL of store-query.ts is tested against it. */
export function evaluateCondition(condition: Condition, readField: ReadField): Truth {
  switch (condition.kind) {
    case 'and':
      return every(condition.operands.map((operand) => evaluateCondition(operand, readField)))
    case 'or':
      return some(condition.operands.map((operand) => evaluateCondition(operand, readField)))
    case 'not':
      return negate(evaluateCondition(condition.operand, readField))
    case 'is-null':
      return (readField(condition.field).length === 0) !== condition.isNegated
    default:
      return evaluateComparison(condition, readField(condition.field))
  }
}

export function evaluateComparison(comparison: Comparison, values: readonly Value[]): Truth {
  if (values.length === 0) return null
  const { field } = comparison
  const compare = (operator: CompareOperator, value: Value): Truth => {
    // A list is different from a value when it does not hold it, not when it holds another.
    if (operator === '!=') return negate(compare('=', value))
    return some(values.map((own) => holds(field, own, operator, value)))
  }
  if (comparison.kind === 'compare') return compare(comparison.operator, comparison.value)
  const truth = (() => {
    switch (comparison.kind) {
      case 'in':
        return some(comparison.values.map((value) => compare('=', value)))
      case 'between':
        return every([compare('>=', comparison.low), compare('<=', comparison.high)])
      case 'starts-with':
        return comparison.prefix === null ? null : String(values[0]).startsWith(String(comparison.prefix))
    }
  })()
  return comparison.isNegated ? negate(truth) : truth
}

function holds(field: Field, own: Value, operator: CompareOperator, value: Value): Truth {
  if (own === null || value === null) return null
  if (field.type === 'Text') {
    const words = new Set(textWords(String(own)))
    return textWords(String(value)).some((word) => words.has(word))
  }
  const order = compareValues(own, value)
  switch (operator) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

function compareValues(a: NonNullable<Value>, b: NonNullable<Value>): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

function negate(truth: Truth): Truth {
  return truth === null ? null : !truth
}

function every(truths: Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function some(truths: Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}
