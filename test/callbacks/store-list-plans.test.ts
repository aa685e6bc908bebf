import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import { parseQuery } from '../../src/callbacks/query/parse-query.ts'
import { countRuns, listRuns } from '../../src/callbacks/run/store-list.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { planOf, type SeenStatement } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { CATALOGUE } from './condition-samples.ts'
import { fillRuns } from './store-rows.ts'
import { NAMESPACE } from './store-world.ts'

const ROWS = 20_000

/** The same data, and what was asked of its runs. */
function watched(reader: Reader): { reader: Reader; statements: SeenStatement[] } {
  const statements: SeenStatement[] = []
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }): RootOperationNode => {
      const { sql: text, parameters } = reader.query.getExecutor().compileQuery(node, { queryId: 'plan' })
      statements.push({ sql: text, parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const query = reader.query.withPlugin(plugin)
  return { reader: { engine: reader.engine, query, run: (...asked) => reader.run(...asked) }, statements }
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

  async function planFor(ask: (reader: Reader) => Promise<unknown>): Promise<string> {
    filled ??= fill()
    const db = await filled
    return db.read(async (snapshot) => {
      const { reader, statements } = watched(snapshot)
      await ask(reader)
      return planOf(snapshot, statements[0] as SeenStatement)
    })
  }

  const list = (query: string) => (reader: Reader) =>
    listRuns(reader, { namespaceId: NAMESPACE, condition: conditionOf(query) }, { after: null, limit: 5 })
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
      const plan = await planFor(ask)
      assert.match(plan, new RegExp(`(INDEX|using) ${index}\\b`), plan)
      // Rows that differ in their id alone may be sorted, not the list.
      if (/list|unsuccessful/.test(index)) assert.doesNotMatch(plan, /B-TREE FOR ORDER|^\s*(->)?\s*Sort$/m, plan)
    })
  }

  test('counts by status read an index alone', { skip: engine === 'postgres' }, async () => {
    assert.match(await planFor(count('')), /COVERING INDEX callback_runs_list \(namespace_id=\?\)/)
    assert.match(await planFor(count("ExecutionStatus = 'Failed'")), /COVERING INDEX callback_runs_unsuccessful/)
  })
})
