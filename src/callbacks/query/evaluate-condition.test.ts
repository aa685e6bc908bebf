import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Value } from './condition.ts'
import { evaluateCondition } from './evaluate-condition.ts'
import { fieldCatalogue } from './fields.ts'
import { parseQuery } from './parse-query.ts'

const CATALOGUE = fieldCatalogue({ K: 'Keyword', L: 'KeywordList', T: 'Text', I: 'Int', B: 'Bool', None: 'Int' })

function truthOf(query: string): boolean | null {
  const run: Record<string, Value[]> = { K: ['b'], L: ['x', 'y'], T: ['Paid in full'], I: [5n], B: [true] }
  const { condition } = parseQuery(query, CATALOGUE, { allowsGroupBy: false })
  return condition === null ? true : evaluateCondition(condition, ({ name }) => run[name] ?? [])
}

function all(expected: boolean | null, ...queries: string[]): void {
  for (const query of queries) assert.equal(truthOf(query), expected, query)
}

test('comparisons follow the order of the values', () => {
  all(true, "K = 'b'", "K != 'a'", "K > 'a'", "K >= 'b'", "K < 'c'", "K <= 'b'", "K BETWEEN 'b' AND 'b'", 'B = TRUE')
  all(true, 'I IN (1, 5)', 'I NOT IN (1)', 'I NOT BETWEEN 6 AND 7', "K STARTS_WITH ''", "K NOT STARTS_WITH 'bb'")
  all(false, "K = 'B'", 'I BETWEEN 6 AND 4', 'I NOT IN (5)', 'B != TRUE', 'I > 5', "K NOT STARTS_WITH 'b'")
})

test('a list is compared by what it contains', () => {
  all(true, "L = 'x'", "L IN ('q', 'y')", "L != 'q'", "L NOT IN ('q')", "NOT L = 'q'")
  all(false, "L != 'x'", "L NOT IN ('y', 'q')", "NOT L = 'y'", "L = 'q'")
})

test('a Text matches when it holds one of the words', () => {
  all(true, "T = 'PAID'", "T = 'never full'", "T != 'pai'")
  all(false, "T = 'pai'", "T != 'full never'")
})

test('a comparison with NULL matches nothing, and only IS NULL finds it', () => {
  all(null, 'None = 1', 'None != 1', 'None NOT IN (1)', 'NOT (None = 1)', 'NOT None NOT BETWEEN 1 AND 2', 'I = NULL')
  all(null, 'I NOT IN (1, NULL)', 'None = 1 OR I = 1', 'K STARTS_WITH NULL', "NOT (L NOT IN ('q', NULL))")
  all(true, 'None IS NULL', 'I IS NOT NULL', 'NOT I IS NULL', 'I IN (5, NULL)', 'None = 1 OR I = 5')
  all(false, 'None IS NOT NULL', 'I IS NULL', 'None = 1 AND I = 1', 'I BETWEEN 6 AND NULL')
  all(true, 'NOT (None = 1 AND I = 1)', 'I NOT BETWEEN 6 AND NULL')
})
