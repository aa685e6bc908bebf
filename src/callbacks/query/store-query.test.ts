import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import {
  ATTRIBUTES,
  attributes,
  CATALOGUE,
  condition,
  keyword,
  readRun,
  type SampleRun,
  status,
} from '../../../test/callbacks/condition-samples.ts'
import { printQuery } from '../../../test/callbacks/print-query.ts'
import { kyselyOver } from '../../platform/storage/kysely-over.ts'
import { attributeRows } from './attribute-rows.ts'
import type { Condition, Query } from './condition.ts'
import { evaluateCondition } from './evaluate-condition.ts'
import { fieldCatalogue } from './fields.ts'
import { parseQuery } from './parse-query.ts'
import { type RunColumns, whereCondition } from './store-query.ts'

const COLUMNS: RunColumns = {
  runNumber: 'runs.run_number',
  status: 'runs.status',
  callbackId: 'runs.callback_id',
  runId: 'runs.run_id',
  createdAt: 'runs.created_at',
  closedAt: 'runs.closed_at',
  transitionCount: 'runs.transition_count',
  statuses: { Running: 1, Succeeded: 2, Failed: 3, Terminated: 4 },
}

const run: fc.Arbitrary<SampleRun> = fc.record({
  status,
  callbackId: keyword,
  runId: keyword,
  createdAt: fc.constantFrom(0n, 1n, 1_000_000n, 1_767_225_600_123_456n),
  closedAt: fc.constantFrom(null, 1n, 1_000_001n, 1_767_225_600_123_456n),
  transitionCount: fc.constantFrom(0n, 1n, 2n),
  attributes,
})

class Runs {
  readonly #db = new DatabaseSync(':memory:')
  readonly #query = kyselyOver('sqlite', {
    execute: async (text, parameters) => ({ rows: this.#db.prepare(text).all(...(parameters as SQLInputValue[])) }),
    stream: () => assert.fail('nothing is streamed'),
  })

  constructor() {
    this.#db.exec(`create table runs (run_number integer primary key, status integer, callback_id text, run_id text,
      created_at bigint, closed_at bigint, transition_count bigint)`)
    this.#db.exec(`create table callback_attributes (run_number bigint not null, name text not null, type text not null,
      text_value text, number_value numeric)`)
    this.#db.exec('create index attributes_of_run on callback_attributes (run_number, name)')
  }

  fill(runs: SampleRun[]): void {
    this.#db.exec('delete from runs; delete from callback_attributes')
    const insertRun = this.#db.prepare('insert into runs values (?, ?, ?, ?, ?, ?, ?)')
    const insertAttribute = this.#db.prepare('insert into callback_attributes values (?, ?, ?, ?, ?)')
    runs.forEach((each, number) => {
      const { callbackId, runId, createdAt, closedAt, transitionCount } = each
      insertRun.run(number, COLUMNS.statuses[each.status], callbackId, runId, createdAt, closedAt, transitionCount)
      for (const [name, values] of Object.entries(each.attributes)) {
        for (const row of attributeRows(name, ATTRIBUTES[name as keyof typeof ATTRIBUTES], values)) {
          insertAttribute.run(number, row.name, row.type, row.text_value, row.number_value)
        }
      }
    })
  }

  async find(wanted: Condition | null, isPlanned = true): Promise<number[]> {
    const where = whereCondition('sqlite', COLUMNS, wanted, isPlanned)
    const found = sql<{ run_number: number }>`select run_number from runs where ${where} order by run_number`
    return (await found.execute(this.#query)).rows.map((row) => row.run_number)
  }
}

function parse(query: string): Query {
  return parseQuery(query, CATALOGUE, { allowsGroupBy: true })
}

function postgresOf(query: string): { sql: string; parameters: readonly unknown[] } {
  const runner = { execute: () => assert.fail(), stream: () => assert.fail() }
  return whereCondition('postgres', COLUMNS, parse(query).condition).compile(kyselyOver('postgres', runner))
}

test('a printed query reads as the same query', () => {
  const parts = fc.tuple(fc.option(condition), fc.constantFrom(null, 'ExecutionStatus' as const))
  const query = parts.map(([condition, groupBy]): Query => ({ condition, groupBy }))
  fc.assert(
    fc.property(query, (asked) => assert.deepEqual(parse(printQuery(asked)), asked)),
    { numRuns: 1_000 },
  )
})

test('SQLite finds what the condition means, run by run', async () => {
  const runs = new Runs()
  const samples = fc.array(run, { minLength: 1, maxLength: 12 })
  const conditions = fc.array(condition, { minLength: 10, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(samples, conditions, async (kept, asked) => {
      runs.fill(kept)
      for (const each of asked) {
        const expected = kept.flatMap((one, number) => (evaluateCondition(each, readRun(one)) === true ? [number] : []))
        const text = printQuery({ condition: each, groupBy: null })
        assert.deepEqual(await runs.find(each), expected, text)
        // Long queries are put in another way and mean the same.
        const long: Condition = { kind: 'and', operands: Array(30).fill(each) }
        assert.deepEqual(await runs.find(long, false), expected, text)
      }
      assert.equal((await runs.find(null)).length, kept.length)
    }),
    { numRuns: 300 },
  )
})

test('an attribute that was given before its type changed is NULL', async () => {
  const runs = new Runs()
  const facts = { status: 'Running', callbackId: 'a', runId: 'b', createdAt: 0n, closedAt: null } as const
  runs.fill([{ ...facts, transitionCount: 1n, attributes: { K: ['a'] } }])
  const { condition: asked } = parseQuery("K = 'a'", fieldCatalogue({ K: 'Text' }), { allowsGroupBy: false })
  assert.deepEqual(await runs.find(asked), [])
  assert.deepEqual(await runs.find(parse("K = 'a'").condition), [0])
})

const LONG_QUERIES = {
  'a chain of OR': Array(1_000).fill('I = 1').join(' OR '),
  'a chain of AND under NOT': `NOT (${Array(800).fill("L != ''").join(' AND ')})`,
  'pairs of conditions': Array.from({ length: 400 }, (_, i) => `(I=${i} AND D=1)`).join(' OR '),
  'a list of values': `I NOT IN (${Array(4_900).fill('1').join(',')})`,
  'texts of many words': Array(20)
    .fill(`T != '${Array.from({ length: 50 }, (_, word) => `${word + 1e7}`).join(' ')}'`)
    .join(' OR '),
  'the deepest nesting': `${'NOT (I=1 AND D=1 OR '.repeat(25)}K='a'${')'.repeat(25)}`,
}

for (const [what, query] of Object.entries(LONG_QUERIES)) {
  test(`SQLite takes ${what} as long as it may be`, async () => {
    assert.ok(query.length <= 10_000 && (query.length > 5_000 || what.includes('nesting')), `${query.length}`)
    assert.deepEqual(await new Runs().find(parse(query).condition), [])
  })
}

test('no part of a query stands in the text of the SQL, except what is asked', () => {
  const { sql: text, parameters } = postgresOf("CallbackId STARTS_WITH 'x''y' AND K = 'DROP' AND I > 5 AND T = 'Ab'")
  assert.deepEqual(
    parameters.filter((value) => !['K', 'I', 'T', 'Keyword', 'Int', 'Text'].includes(String(value))),
    ["x'y", "x'z", 'DROP', '5', ' ab '],
  )
  assert.doesNotMatch(text, /DROP|x'|ab/)
})

test('PostgreSQL compares texts by code points and numbers without loss', () => {
  assert.equal(postgresOf("RunId > 'a'").sql, '"runs"."run_id" collate "C" > $1')
  assert.equal(postgresOf("RunId != 'a'").sql, '"runs"."run_id" <> $1')
  assert.match(postgresOf('I <= 9223372036854775807').sql, /"a"."number_value" <= cast\(\$3 as numeric\)/)
  assert.match(postgresOf("ExecutionDuration > '5m'").sql, /\* 1000\) > cast\(\$1 as bigint\)$/)
  assert.match(postgresOf("T = 'b'").sql, /strpos\("a"."text_value", \$3\) > 0/)
})

test('both ends of a range are asked in one look, but two values of a list in two', () => {
  const looks = (query: string) => postgresOf(query).sql.split('exists').length - 1
  assert.equal(looks('I >= 1 AND NOT I > 5 AND D = 1'), 2)
  assert.equal(looks("L = 'a' AND L = 'b'"), 2)
  assert.equal(looks("L = 'a' OR NOT L != 'b'"), 1)
})

test('a status is asked for by what its column holds, without asking where the answer is known', () => {
  const cases: Record<string, [string, ...number[]]> = {
    "ExecutionStatus = 'Failed'": ['"runs"."status" in ($1)', 3],
    "ExecutionStatus != 'CALLBACK_EXECUTION_STATUS_FAILED'": ['"runs"."status" in ($1, $2, $3)', 1, 2, 4],
    "ExecutionStatus < 'S'": ['"runs"."status" in ($1, $2)', 1, 3],
    "NOT ExecutionStatus STARTS_WITH 'R'": ['"runs"."status" in ($1, $2, $3)', 2, 3, 4],
    "ExecutionStatus = 'Odd'": ['1 = 0'],
    "ExecutionStatus != 'Odd'": ['1 = 1'],
    'StartTime IS NULL OR CloseTime IS NULL': ['"runs"."closed_at" is null'],
  }
  for (const [query, [text, ...parameters]] of Object.entries(cases)) {
    const compiled = postgresOf(query)
    assert.deepEqual([compiled.sql, ...compiled.parameters], [text, ...parameters], query)
  }
})
