import type { Comparison, Condition, Query, Value } from '../../src/callbacks/query/condition.ts'
import type { Field } from '../../src/callbacks/query/fields.ts'

/** A text that reads as the same query again. */
export function printQuery({ condition, groupBy }: Query): string {
  const parts = condition === null ? [] : [printCondition(condition)]
  if (groupBy !== null) parts.push(`GROUP BY ${groupBy}`)
  return parts.join(' ')
}

function printCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.operands.map(printOperand).join(` ${condition.kind.toUpperCase()} `)
    case 'not':
      return `NOT ${printOperand(condition.operand)}`
    case 'is-null':
      return `${printName(condition.field)} IS ${condition.isNegated ? 'NOT NULL' : 'NULL'}`
    default:
      return printComparison(condition)
  }
}

function printComparison(comparison: Comparison): string {
  const { field } = comparison
  const print = (value: Value) => printValue(field, value)
  if (comparison.kind === 'compare') return `${printName(field)} ${comparison.operator} ${print(comparison.value)}`
  const start = comparison.isNegated ? `${printName(field)} NOT` : printName(field)
  switch (comparison.kind) {
    case 'in':
      return `${start} IN (${comparison.values.map(print).join(', ')})`
    case 'between':
      return `${start} BETWEEN ${print(comparison.low)} AND ${print(comparison.high)}`
    case 'starts-with':
      return `${start} STARTS_WITH ${print(comparison.prefix)}`
  }
}

function printName({ name }: Field): string {
  return `\`${name.replaceAll('`', '``')}\``
}

function printOperand(operand: Condition): string {
  const isChain = operand.kind === 'and' || operand.kind === 'or'
  return isChain ? `(${printCondition(operand)})` : printCondition(operand)
}

function printValue({ type }: Field, value: Value): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
  if (typeof value === 'bigint' && type === 'Datetime') return `'${printInstant(value)}'`
  return String(value)
}

function printInstant(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = (micros - fraction) / 1_000_000n
  const date = new Date(Number(seconds) * 1000).toISOString()
  return `${date.slice(0, -'.000Z'.length)}.${String(fraction).padStart(6, '0')}Z`
}
