import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looseExpression, readTextQuery } from './text-query.ts'

test('an expression is read as it is nested, equal operators without their brackets', () => {
  assert.deepEqual(readTextQuery(`(('a':* | 'b') | '+b') & ('=p1' & !('c' <-> 'd':*))`), {
    kind: 'and',
    parts: [
      {
        kind: 'or',
        parts: [
          { kind: 'word', text: "'a':*" },
          { kind: 'word', text: "'b'" },
          { kind: 'word', text: "'+b'" },
        ],
      },
      { kind: 'mark', text: "'=p1'" },
      { kind: 'not', part: { kind: 'phrase', words: ["'c'", "'d':*"] } },
    ],
  })
})

test('what cannot be read is told', () => {
  assert.throws(() => readTextQuery(''), /cannot be read/)
  assert.throws(() => readTextQuery(`'a' &`), /cannot be read/)
})

const LOOSE: [expression: string, loose: string | null][] = [
  [`'a' <-> 'b'`, `'a' & 'b'`],
  [`'a':ABD <-> 'b':*ABD`, `'a' & 'b':*`],
  [`('a' <-> 'b') & '=p1'`, `('a' & 'b') & ('=p1')`],
  [`'a' | ('b' <-> 'c')`, `('a') | ('b' & 'c')`],
  [`'a' & !('b' <-> 'c')`, `('a')`],
  [`'a' | !'b'`, null],
  [`'a' & !('=x' & '=y')`, `('a') & (!(('=x') & ('=y')))`],
]
for (const [expression, loose] of LOOSE) {
  test(`${expression} is true of nothing but what has ${loose ?? 'anything'}`, () => {
    assert.equal(looseExpression(readTextQuery(expression)), loose)
  })
}

test('of words less may be known', () => {
  const query = readTextQuery(`('ab' <-> 'cd':*) & '=p1'`)
  assert.equal(
    looseExpression(query, (text) => `${text.slice(0, 2)}'`),
    `('a' & 'c') & ('=p1')`,
  )
})
