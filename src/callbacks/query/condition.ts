import type { Field, FieldType } from './fields.ts'

/**
 * Keyword, KeywordList, Text: a text. Int: 64 bits. Datetime: microseconds since the epoch. ExecutionDuration:
 * nanoseconds. NULL compares as unknown with everything.
 */
export type Value = string | bigint | number | boolean | null

export type CompareOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

export type Comparison =
  | { kind: 'compare'; field: Field; operator: CompareOperator; value: Value }
  | { kind: 'in'; field: Field; isNegated: boolean; values: Value[] }
  | { kind: 'between'; field: Field; isNegated: boolean; low: Value; high: Value }
  | { kind: 'starts-with'; field: Field; isNegated: boolean; prefix: Value }

export type Condition =
  | { kind: 'and'; operands: Condition[] }
  | { kind: 'or'; operands: Condition[] }
  | { kind: 'not'; operand: Condition }
  | { kind: 'is-null'; field: Field; isNegated: boolean }
  | Comparison

export interface Query {
  /** Null: every run. */
  condition: Condition | null
  groupBy: 'ExecutionStatus' | null
}

const ORDERED = ['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'BETWEEN']

/** What each type can be asked; IS NULL and IS NOT NULL belong to all. */
export const OPERATORS: Record<FieldType, readonly string[]> = {
  Keyword: [...ORDERED, 'STARTS_WITH', 'NOT STARTS_WITH'],
  KeywordList: ['=', '!=', 'IN', 'NOT IN'],
  Text: ['=', '!='],
  Int: [...ORDERED, 'NOT BETWEEN'],
  Double: [...ORDERED, 'NOT BETWEEN'],
  Datetime: [...ORDERED, 'NOT BETWEEN'],
  Bool: ['=', '!='],
}
