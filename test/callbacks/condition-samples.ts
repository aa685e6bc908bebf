import fc from 'fast-check'
import { type CompareOperator, type Condition, OPERATORS, type Value } from '../../src/callbacks/query/condition.ts'
import type { ReadField } from '../../src/callbacks/query/evaluate-condition.ts'
import {
  EXECUTION_STATUSES,
  type ExecutionStatusName,
  type Field,
  type FieldType,
  fieldCatalogue,
} from '../../src/callbacks/query/fields.ts'

export const ATTRIBUTES = {
  K: 'Keyword',
  L: 'KeywordList',
  T: 'Text',
  I: 'Int',
  D: 'Double',
  B: 'Bool',
  At: 'Datetime',
} as const
export const CATALOGUE = fieldCatalogue(ATTRIBUTES)

// Few values, so that comparisons meet equal ones, their neighbours and the ends of the range.
export const keyword = fc.constantFrom(
  '',
  'a',
  'ab',
  'abc',
  'b',
  "it's",
  'back\\slash',
  '\uffff',
  '😀',
  'a\u{10ffff}',
  'Running',
)
const text = fc.constantFrom('Paid in full', 'paid', 'never paid', 'é E\u0301', 'a_b c', 'ΟΔΟΣ 100%')
const int = fc.constantFrom(0n, 1n, -1n, 2n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n))
const double = fc.constantFrom(0, 1, 1.5, -2.25, 0.1, 1e300, 2 ** 53, -5e-324)
const instant = fc.constantFrom(0n, 1n, -1n, 1_000_000n, 1_767_225_600_123_456n, 253_402_300_799_999_999n)
export const status = fc.constantFrom(...EXECUTION_STATUSES)
const VALUES: Record<FieldType, fc.Arbitrary<Value>> = {
  Keyword: fc.oneof(keyword, status),
  KeywordList: keyword,
  Text: text,
  Int: fc.oneof(int, fc.constantFrom(1_000n, 1_000_000_000n)),
  Double: double,
  Bool: fc.boolean(),
  Datetime: instant,
}

/** Values of every attribute; none stands for NULL. */
export const attributes: fc.Arbitrary<Record<string, Value[]>> = fc
  .tuple(
    ...Object.entries(ATTRIBUTES).map(([name, type]) => {
      const maxLength = type === 'KeywordList' ? 3 : 1
      const values = fc.uniqueArray(VALUES[type], { maxLength })
      return values.map((each): [string, Value[]] => [name, each])
    }),
  )
  .map((entries) => Object.fromEntries(entries))

const field = fc.constantFrom(...CATALOGUE.values())

function predicate(of: Field): fc.Arbitrary<Condition> {
  const nullable = fc.oneof({ weight: 12, arbitrary: VALUES[of.type] }, { weight: 1, arbitrary: fc.constant(null) })
  const operator = fc.constantFrom('IS NULL', 'IS NOT NULL', ...OPERATORS[of.type])
  return fc
    .tuple(operator, nullable, nullable, fc.array(nullable, { maxLength: 3 }))
    .map(([word, value, high, more]) => {
      const isNegated = word.includes('NOT')
      if (word.startsWith('IS')) return { kind: 'is-null', field: of, isNegated }
      if (word.endsWith('IN')) return { kind: 'in', field: of, isNegated, values: [value, ...more] }
      if (word.endsWith('BETWEEN')) return { kind: 'between', field: of, isNegated, low: value, high }
      if (word.endsWith('STARTS_WITH')) return { kind: 'starts-with', field: of, isNegated, prefix: value }
      return { kind: 'compare', field: of, operator: word as CompareOperator, value }
    })
}

/** Any condition that a query can ask for. */
export const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    field.chain(predicate),
    tie('condition').map((operand): Condition => ({ kind: 'not', operand })),
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('condition'), { minLength: 2, maxLength: 3 }))
      .map(([kind, operands]): Condition => ({ kind, operands })),
  ),
}))

/** What a condition is about. */
export interface SampleRun {
  status: ExecutionStatusName
  callbackId: string
  runId: string
  createdAt: bigint
  closedAt: bigint | null
  transitionCount: bigint
  attributes: Record<string, Value[]>
}

export function readRun(of: SampleRun): ReadField {
  const { status, callbackId, runId, createdAt, closedAt, transitionCount } = of
  const facts: Record<string, Value> = {
    ExecutionStatus: status,
    CallbackId: callbackId,
    RunId: runId,
    StartTime: createdAt,
    CloseTime: closedAt,
    ExecutionDuration: closedAt === null ? null : (closedAt - createdAt) * 1000n,
    StateTransitionCount: transitionCount,
  }
  return ({ name, isSystem }) => {
    if (!isSystem) return of.attributes[name] ?? []
    const fact = facts[name] ?? null
    return fact === null ? [] : [fact]
  }
}
