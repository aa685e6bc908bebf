import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { parseQuery } from '../../src/callbacks/query/parse-query.ts'
import { countRuns, listRuns } from '../../src/callbacks/run/store-list.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { planOf, type SeenStatement, watchedQuery } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { CATALOGUE } from './condition-samples.ts'
import { fillRuns } from './store-rows.ts'
import { NAMESPACE } from './store-world.ts'

const ROWS = 20_000

/** The same data, and what was asked of its runs. */
function watched(reader: Reader): { reader: Reader; statements: SeenStatement[] } {
  const { query, statements } = watchedQuery(reader.query)
  const run: Reader['run'] = (statement, input) => {
    const prepared = statement.prepared(reader.engine)
    if (/callback_runs/.test(prepared.sql)) statements.push({ sql: prepared.sql, parameters: prepared.bind(input) })
    return reader.run(statement, input)
  }
  return { reader: { engine: reader.engine, query, run }, statements }
}

function conditionOf(query: string) {
  return parseQuery(query, CATALOGUE, { allowsGroupBy: false }).condition
}

eachDatabase('how a list of runs is read', ({ open, engine }) => {
  let filled: Promise<Database> | undefined

  async function fill(): Promise<Database> {
    const db = await open()
    const row = { destination: 1, next: null, deadline: null }
    const rows = Array.from({ length: ROWS }, (_, n) =>
      n % 10 === 0
        ? { ...row, state: 2, due: 5 }
        : { ...row, state: n % 100 === 1 ? 4 : 5, due: null, closed: 100 + n },
    )
    await fillRuns(db, rows)
    await db.write((tx) => sql`update callback_runs set status = 3 where state = 4`.execute(tx.query), { alone: true })
    if (engine === 'postgres') await db.write((tx) => sql`analyze callback_runs`.execute(tx.query))
    return db
  }

  /** Of each statement. */
  async function plansFor(ask: (reader: Reader) => Promise<unknown>): Promise<string[]> {
    filled ??= fill()
    const db = await filled
    return db.read(async (snapshot) => {
      const { reader, statements } = watched(snapshot)
      await ask(reader)
      const plans: string[] = []
      for (const statement of statements) plans.push(await planOf(snapshot, statement))
      return plans
    })
  }

  const list =
    (query: string, limit = 5) =>
    (reader: Reader) =>
      listRuns(reader, { namespaceId: NAMESPACE, condition: conditionOf(query) }, { after: null, limit })
  const behind = (reader: Reader) =>
    listRuns(
      reader,
      { namespaceId: NAMESPACE, condition: null },
      { after: { sortAt: 9_000, createdAt: 7, runId: 'x' }, limit: 5 },
    )
  const count = (query: string) => (reader: Reader) =>
    countRuns(reader, { namespaceId: NAMESPACE, condition: conditionOf(query) })

  const INDEXES: Record<string, [string, (reader: Reader) => Promise<unknown>]> = {
    'the first page': ['callback_runs_list', list('')],
    // Longer than PostgreSQL thinks that the list is: it has not counted namespaces.
    'a long page': ['callback_runs_list', list('', 1_001)],
    'a later page': ['callback_runs_list', behind],
    'what is running': ['callback_runs_list', list("ExecutionStatus = 'Running'")],
    'what failed': ['callback_runs_unsuccessful', list("ExecutionStatus = 'Failed'")],
    'what failed lately': [
      'callback_runs_unsuccessful',
      list("ExecutionStatus = 'Failed' AND CloseTime > '1970-01-01T00:00:00.019Z'"),
    ],
    'the runs of one id': ['callback_runs_latest', list("CallbackId = '77'")],
    'one run': [
      engine === 'sqlite' ? 'sqlite_autoindex_callback_runs_1' : 'callback_runs_run_id_key',
      list("RunId = '77'"),
    ],
  }
  for (const [name, [index, ask]] of Object.entries(INDEXES)) {
    test(`${name} comes from ${index}`, async () => {
      for (const plan of await plansFor(ask)) {
        assert.match(plan, new RegExp(`(INDEX|using) ${index}\\b`), plan)
        // Rows that differ in their id alone may be sorted, not the list.
        if (/list|unsuccessful/.test(index)) assert.doesNotMatch(plan, /B-TREE FOR ORDER|^\s*(->)?\s*Sort$/m, plan)
      }
    })
  }

  test('counts by status read an index alone', { skip: engine === 'postgres' }, async () => {
    const part = 'namespace_id=? AND (sort_at,created_at)>(?,?) AND (sort_at,created_at)<(?,?)'
    const plans = await plansFor(count(''))
    assert.deepEqual(new Set(plans), new Set([`SEARCH r USING COVERING INDEX callback_runs_list (${part})`]))
    for (const plan of await plansFor(count("ExecutionStatus = 'Failed'"))) {
      assert.match(plan, /COVERING INDEX callback_runs_unsuccessful/)
    }
  })

  test('each part of a list is looked at once, whatever times are asked for', {
    skip: engine === 'postgres',
  }, async () => {
    const part = 'namespace_id=? AND (sort_at,created_at)>(?,?) AND (sort_at,created_at)<(?,?)'
    for (const query of [
      "ExecutionDuration < '0s'",
      "ExecutionStatus = 'Running' AND K = 'a'",
      "ExecutionStatus = 'Failed' AND K = 'a'",
      "CloseTime > '1970-01-01T00:00:00.001Z' AND K = 'a'",
      "CloseTime < '1970-01-01T00:00:00.019Z' AND K = 'a'",
      "CloseTime BETWEEN '1970-01-01T00:00:00.001Z' AND '1970-01-01T00:00:00.019Z' AND K = 'a'",
    ]) {
      for (const plan of [...(await plansFor(list(query))), ...(await plansFor(count(query)))]) {
        assert.ok(plan.includes(`(${part})`), `${query}: ${plan}`)
      }
    }
  })

  test('no part begins before the first run that may be found, nor goes on behind the last', {
    skip: engine === 'postgres',
  }, async () => {
    filled ??= fill()
    const statementsOf = async (query: string) => {
      const { reader, statements } = watched((await filled) as Database)
      assert.deepEqual(
        [...(await countRuns(reader, { namespaceId: NAMESPACE, condition: conditionOf(query) })).values()],
        [0, 0, 0, 0],
      )
      return statements.length
    }
    // Where a part ends, and what it has.
    assert.equal(await statementsOf("CloseTime > '1970-01-01T00:00:01Z' AND K = 'a'"), 2)
    assert.equal(await statementsOf("CloseTime < '1970-01-01T00:00:00Z' AND K = 'a'"), 2)
    assert.equal(await statementsOf("ExecutionStatus = 'Running' AND K = 'a'"), 2)
  })

  test('a long query makes SQLite think of no index for each comparison', { skip: engine === 'postgres' }, async () => {
    filled ??= fill()
    const { reader, statements } = watched(await filled)
    await list(Array(21).fill("CallbackId > '5'").join(' AND '))(reader)
    const asked = statements.map((each) => each.sql.match(/.?"r"."callback_id" >/g) ?? [])
    assert.ok(asked.some((each) => each.length === 21))
    assert.deepEqual(new Set(asked.flat()), new Set(['+"r"."callback_id" >']))
    for (const plan of await plansFor(list(Array(21).fill("CallbackId = '77'").join(' OR '))))
      assert.match(plan, /callback_runs_latest/, 'those that name ids are found by them')
  })

  test('a part has a few runs where many words or values are looked for', { skip: engine === 'postgres' }, async () => {
    filled ??= fill()
    const words = (from: number) => Array.from({ length: 50 }, (_, n) => `w${from + n}`).join(' ')
    const texts = Array.from({ length: 19 }, (_, n) => `T = '${words(n * 50)}'`)
    const values = Array.from({ length: 25 }, (_, n) => `L != '${n}'`)
    for (const long of [texts.join(' OR '), values.join(' AND ')]) {
      const { reader, statements } = watched(await filled)
      await count(`ExecutionStatus = 'Failed' AND (${long})`)(reader)
      // Of each part where it ends, and what it has: 200 have failed.
      assert.ok(statements.length >= 2 * (200 / 20), `${statements.length}`)
    }
  })

  test('what is read in parts is all that there is, in its order, and others have a turn between them', async () => {
    filled ??= fill()
    const db = await filled
    // All that are running began at the same time.
    const counting = db.read(count('StateTransitionCount = 1'))
    const turns = await turnsDuring(counting)
    assert.deepEqual(Object.fromEntries(await counting), {
      RUNNING: 2_000,
      SUCCEEDED: 17_800,
      FAILED: 200,
      TERMINATED: 0,
    })
    if (engine === 'sqlite') assert.ok(turns >= 4, `${turns}`)
    const asked = { namespaceId: NAMESPACE, condition: conditionOf("K IS NULL AND CallbackId STARTS_WITH '7'") }
    const first = await listRuns(db, asked, { after: null, limit: 700 })
    const rest = await listRuns(db, asked, { after: first.at(-1)?.key ?? null, limit: 10_000 })
    const ids = Array.from({ length: ROWS }, (_, n) => n + 1).filter((id) => `${id}`.startsWith('7'))
    const isRunning = (id: number) => id % 10 === 1
    const expected = [...ids.filter(isRunning).map(String).sort(), ...ids.filter((id) => !isRunning(id)).reverse()]
    assert.equal(first.length, 700)
    assert.deepEqual(
      [...first, ...rest].map(({ callbackId }) => callbackId),
      expected.map(String),
    )
  })
})
