import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../platform/errors/app-error.ts'
import { type Condition, OPERATORS } from './condition.ts'
import { type FieldType, fieldCatalogue } from './fields.ts'
import { MAX_NESTING, parseQuery } from './parse-query.ts'

const TYPES = { K: 'Keyword', L: 'KeywordList', T: 'Text', I: 'Int', D: 'Double', B: 'Bool', At: 'Datetime' } as const
const CATALOGUE = fieldCatalogue({ ...TYPES, Order: 'Int', 'odd`name': 'Int', Old: 'Nothing', CloseTime: 'Text' })

function parse(query: string, allowsGroupBy = false) {
  return parseQuery(query, CATALOGUE, { allowsGroupBy })
}

function conditionOf(query: string): Condition {
  const { condition } = parse(query)
  assert.ok(condition)
  return condition
}

/** With fields by their names, so that trees are short. */
function shapeOf(query: string): unknown {
  const text = JSON.stringify(conditionOf(query), (key, value) =>
    key === 'field' ? value.name : typeof value === 'bigint' ? Number(value) : value,
  )
  return JSON.parse(text)
}

function messageOf(query: string, allowsGroupBy = false): string {
  try {
    parse(query, allowsGroupBy)
  } catch (error) {
    assert.ok(isAppError(error, 'invalid_argument'), String(error))
    assert.match(error.message, /^invalid query: .+, at position \d+$/s)
    return error.message
  }
  return assert.fail(`it was read: ${query}`)
}

function fails(query: string, position: number, problem: RegExp, allowsGroupBy = false): void {
  const message = messageOf(query, allowsGroupBy)
  assert.match(message, problem)
  assert.equal(Number(message.slice(message.lastIndexOf(' '))), position, message)
}

const eq = (field: string, value: unknown) => ({ kind: 'compare', field, operator: '=', value })

test('an empty query asks for everything', () => {
  for (const query of ['', ' \t\r\n ']) assert.deepEqual(parse(query), { condition: null, groupBy: null })
})

test('NOT binds tighter than AND, AND tighter than OR, parentheses tighter than all', () => {
  const [a, b, c] = [eq('I', 1), eq('I', 2), eq('I', 3)]
  assert.deepEqual(shapeOf('I = 1 OR I = 2 AND I = 3'), {
    kind: 'or',
    operands: [a, { kind: 'and', operands: [b, c] }],
  })
  assert.deepEqual(shapeOf('NOT I = 1 AND I = 2'), { kind: 'and', operands: [{ kind: 'not', operand: a }, b] })
  assert.deepEqual(shapeOf('(I = 1 OR I = 2) AND I = 3'), {
    kind: 'and',
    operands: [{ kind: 'or', operands: [a, b] }, c],
  })
  assert.deepEqual(shapeOf('I=1 and I=2 And I=3'), { kind: 'and', operands: [a, b, c] })
  assert.deepEqual(shapeOf('(((I = 1)))'), a)
})

test('every form of a predicate is read', () => {
  const field = 'K'
  assert.deepEqual(shapeOf('K in (\'a\', "b")'), { kind: 'in', field, isNegated: false, values: ['a', 'b'] })
  assert.deepEqual(shapeOf("K NOT IN ('a')"), { kind: 'in', field, isNegated: true, values: ['a'] })
  assert.deepEqual(shapeOf("K BETWEEN 'a' AND 'b' AND K = 'c'"), {
    kind: 'and',
    operands: [{ kind: 'between', field, isNegated: false, low: 'a', high: 'b' }, eq('K', 'c')],
  })
  assert.deepEqual(shapeOf('I NOT BETWEEN 1 AND 2'), { kind: 'between', field: 'I', isNegated: true, low: 1, high: 2 })
  assert.deepEqual(shapeOf("K starts_with 'a'"), { kind: 'starts-with', field, isNegated: false, prefix: 'a' })
  assert.deepEqual(shapeOf("K NOT STARTS_WITH 'a'"), { kind: 'starts-with', field, isNegated: true, prefix: 'a' })
  assert.deepEqual(shapeOf('K IS NULL'), { kind: 'is-null', field, isNegated: false })
  assert.deepEqual(shapeOf('K is not null'), { kind: 'is-null', field, isNegated: true })
  assert.deepEqual(shapeOf('K = NULL'), eq('K', null))
})

test('a quote inside a string is doubled or preceded by a backslash, and another backslash is a character', () => {
  const texts = { "'it''s'": "it's", "'it\\'s'": "it's", '"a""b"': 'a"b', '"a\\"b"': 'a"b', "'\"'": '"', "''": '' }
  const slashes = { "'C:\\dir'": 'C:\\dir', "'end\\\\'": 'end\\', "'\\n'": '\\n', "''''": "'" }
  for (const [written, text] of Object.entries({ ...texts, ...slashes })) {
    assert.deepEqual(shapeOf(`K = ${written}`), eq('K', text), written)
  }
})

test('field names keep their case and may stand in back-quotes, also when they look like something else', () => {
  assert.deepEqual(shapeOf('`I` = 1'), eq('I', 1))
  assert.deepEqual(shapeOf('`odd``name` = 1'), eq('odd`name', 1))
  assert.deepEqual(shapeOf('Order = 1'), eq('Order', 1))
  fails('i = 1', 1, /no field "i"/)
  fails('Old = 1', 1, /no field "Old"/)
  fails('`I = 1', 1, /never closed/)
})

test('names with hyphens are read as they were declared, and a hyphen before a digit is a sign', () => {
  const catalogue = fieldCatalogue({ 'customer-id': 'Int', 'a--b': 'Int', 'x-1': 'Int', I: 'Int' })
  const nameIn = (query: string) => {
    const { condition } = parseQuery(query, catalogue, { allowsGroupBy: false })
    return condition !== null && 'field' in condition ? condition.field.name : condition
  }
  for (const name of ['customer-id', 'a--b']) {
    for (const query of [`${name} = 5`, `${name}=-5`, `${name}>-5`, `\`${name}\` = 5`])
      assert.equal(nameIn(query), name)
  }
  assert.equal(nameIn('`x-1` = 5'), 'x-1')
  assert.equal(nameIn('I BETWEEN-5 AND-1'), 'I')
  fails('no-such-field = 1', 1, /no field "no-such-field"/)
})

test('system fields win over attributes of the same name, and CreateTime is StartTime', () => {
  assert.deepEqual(shapeOf('CloseTime = "1970-01-01T00:00:01Z"'), eq('CloseTime', 1_000_000))
  assert.deepEqual(shapeOf('CreateTime = "1970-01-01T00:00:01Z"'), eq('StartTime', 1_000_000))
})

const OPERANDS: Record<FieldType, string> = {
  Keyword: "'a'",
  KeywordList: "'a'",
  Text: "'a'",
  Int: '1',
  Double: '1.5',
  Bool: 'TRUE',
  Datetime: "'2026-01-01T00:00:00Z'",
}
const ALL_OPERATORS = [...OPERATORS.Keyword, 'NOT BETWEEN']

for (const [field, type] of Object.entries(TYPES)) {
  test(`${type} takes its own operators and refuses the others`, () => {
    const value = OPERANDS[type]
    for (const operator of ALL_OPERATORS) {
      const right = operator.endsWith('IN')
        ? `(${value})`
        : operator.endsWith('BETWEEN')
          ? `${value} AND ${value}`
          : value
      const query = `${field} ${operator} ${right}`
      if (OPERATORS[type].includes(operator)) assert.ok(conditionOf(query), query)
      else fails(query, field.length + 2, /does not take/)
    }
    assert.ok(conditionOf(`${field} IS NULL AND ${field} IS NOT NULL`))
  })

  test(`${type} refuses values of other types`, () => {
    const texts: FieldType[] = ['Keyword', 'KeywordList', 'Text']
    for (const [other, value] of Object.entries(OPERANDS) as [FieldType, string][]) {
      const fits = other === type || (texts.includes(type) && (texts.includes(other) || other === 'Datetime'))
      const isNumber = type === 'Double' && other === 'Int'
      if (fits || isNumber) assert.ok(conditionOf(`${field} = ${value}`))
      else fails(`${field} = ${value}`, field.length + 4, /is expected/)
    }
  })
}

test('what is not supported is refused by name and place', () => {
  fails('I = 1 ORDER BY StartTime', 7, /"ORDER" stands where the end/)
  fails('ORDER BY StartTime', 1, /"ORDER" BY is not supported/)
  fails('I = 1 LIMIT 5', 7, /"LIMIT"/)
  fails('upper(K) = 1', 1, /functions/)
  fails('K IN (SELECT 1)', 7, /sub-selects/)
  fails('I == 1', 4, /whole number/)
  fails('I <> 1', 4, /whole number/)
  fails('1 = I', 1, /a field/)
  fails('I = 1;', 6, /";" has no meaning/)
  fails('I = 5m', 6, /goes on/)
  fails('I', 2, /the query ends where an operator/)
  fails('I = 1 I = 2', 7, /the end of the query/)
  fails('I NOT = 1', 7, /an operator/)
  fails('I IN ()', 7, /whole number/)
  fails('I IN (1', 8, /"\)"/)
  fails('I BETWEEN 1', 12, /AND/)
  fails('I IS 1', 6, /NULL or NOT NULL/)
  fails('(I = 1', 7, /"\)"/)
  fails('AND', 1, /a field/)
  fails("K = 'a", 5, /never closed/)
  fails("K = '😀' AND x = 1", 13, /no field "x"/)
  fails(`${'x'.repeat(40)} = 1`, 1, /no field "x{40}" /)
  fails(`${'𝐱'.repeat(41)} = 1`, 1, /no field "𝐱{40}…" /u)
})

test('values that no database could hold are refused', () => {
  fails("K = 'a\0'", 7, /NUL/)
  fails("K = '\ud800'", 6, /half/)
})

test('only a count is grouped, by the status alone', () => {
  const grouped = { condition: null, groupBy: 'ExecutionStatus' }
  assert.deepEqual(parse('group by ExecutionStatus', true), grouped)
  assert.equal(parse('I = 1 GROUP BY `ExecutionStatus`', true).groupBy, 'ExecutionStatus')
  fails('I = 1 GROUP BY ExecutionStatus', 7, /counts only/)
  fails('GROUP BY RunId', 10, /only GROUP BY ExecutionStatus/, true)
  fails('GROUP BY ExecutionStatus, RunId', 25, /one field/, true)
  fails('GROUP ExecutionStatus', 7, /BY/, true)
  fails('GROUP BY ExecutionStatus GROUP BY ExecutionStatus', 26, /the end/, true)
})

test('10,000 bytes are read and one more is not, whatever the characters', () => {
  const query = `K = '${'é'.repeat(4_997)}'`
  assert.equal(Buffer.byteLength(query), 10_000)
  assert.ok(conditionOf(query))
  fails(`${query} `, 5_004, /longer than 10000 bytes/)
  fails(' '.repeat(100_000), 10_001, /longer than/)
})

test('fifty levels of parentheses and NOT are read and one more is not', () => {
  const nest = (depth: number, open: string, close: string) => `${open.repeat(depth)}I = 1${close.repeat(depth)}`
  assert.ok(conditionOf(nest(MAX_NESTING, '(', ')')))
  assert.ok(conditionOf(nest(MAX_NESTING, 'NOT ', '')))
  assert.ok(conditionOf(`${nest(MAX_NESTING, '(', ')')} AND ${nest(MAX_NESTING, '(', ')')}`))
  fails(nest(MAX_NESTING + 1, '(', ')'), 51, /deeper than 50/)
  fails(nest(MAX_NESTING + 1, 'NOT ', ''), 201, /deeper than 50/)
  fails(nest(26, 'NOT (', ')'), 126, /deeper than 50/)
})

test('a text of fifty words is read and one of more is not', () => {
  const words = (count: number) => Array.from({ length: count }, (_, word) => `w${word}`).join(' ')
  assert.ok(conditionOf(`T = '${words(50)} W1 w2'`))
  fails(`T != '${words(51)}'`, 6, /more than 50 words for T/)
})

test('a thousand comparisons are read and one more is not, each word and each value of a list being one', () => {
  const chain = (count: number) => Array(count).fill('I=1').join(' OR ')
  assert.ok(conditionOf(chain(1_000)))
  fails(chain(1_001), 7_001, /more than 1000 comparisons/)
  fails(
    `${chain(950)} OR (T = '${Array.from({ length: 50 }, (_, n) => n).join(' ')}' AND B = true)`,
    6_802,
    /comparisons/,
  )
  fails(`${chain(998)} OR L IN ('a', 'b', 'c')`, 6_987, /comparisons/)
  assert.ok(conditionOf(`I IN (${Array(3_000).fill('1').join(',')})`))
})

test('any text is either read or refused as an invalid query', () => {
  const words = fc.constantFrom(
    ...['I', 'K', 'L', 'T', 'B', 'AND', 'OR', 'NOT', 'IN', 'IS', 'NULL', 'BETWEEN', 'STARTS_WITH', 'GROUP', 'BY'],
    ...['ExecutionStatus', '(', ')', ',', '=', '!=', '<', "'a'", '"b"', '`I`', '1', '-2.5e3', 'true', "'", '\\', '`'],
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(words, { maxLength: 20 }).map((parts) => parts.join(' ')),
    fc.array(words, { maxLength: 20 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, fc.boolean(), (text, allowsGroupBy) => {
      try {
        parse(text, allowsGroupBy)
      } catch (error) {
        if (!isAppError(error, 'invalid_argument') || !error.message.startsWith('invalid query')) throw error
      }
    }),
    { numRuns: 3_000 },
  )
})
