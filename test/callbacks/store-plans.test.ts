import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  backoffsDue,
  clampDue,
  delayedDue,
  destinationsDue,
  nextDue,
  takeDue,
  timeoutsDue,
  waitingCounts,
} from '../../src/callbacks/deliver/store-due.ts'
import { leasedByOthers } from '../../src/callbacks/deliver/store-leases.ts'
import { deleteClosedRuns } from '../../src/callbacks/run/store-retention.ts'
import { findRun } from '../../src/callbacks/run/store-runs.ts'
import type { Database, Reader, Transaction } from '../../src/platform/storage/database.ts'
import type { Statement } from '../../src/platform/storage/statement.ts'
import { planOf, refuseShortCuts, type SeenStatement } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addDestinations, fillRuns } from './store-rows.ts'
import { addNamespace, NAMESPACE, startIn } from './store-world.ts'

/** A table that is read from end to end, or sorted. */
const SCAN = /^SCAN (callback_\w+|r|d|i)\b|Seq Scan on/m
const SORT = /TEMP B-TREE|^\s*(->)?\s*(Incremental )?Sort$/m

/** The same data as of a database and of a transaction, and which prepared statements were put to it. */
function watched(tx: Transaction): { db: Database & Transaction; statements: SeenStatement[] } {
  const statements: SeenStatement[] = []
  const look = (statement: Statement<object, unknown>, input: object) => {
    const prepared = statement.prepared(tx.engine)
    statements.push({ sql: prepared.sql, parameters: prepared.bind(input) })
  }
  const see: Reader['run'] = (statement, input) => {
    look(statement as Statement<object, unknown>, input)
    return tx.run(statement, input)
  }
  const db = {
    engine: tx.engine,
    query: tx.query,
    run: see,
    writeOne: see,
    insert: (statement: never, input: never) => {
      look(statement, input)
      return tx.insert(statement, input)
    },
    change: async (statement: never, input: never) => (await see(statement, input)).length,
    changeEach: async (statement: never, inputs: never[]) => {
      for (const input of inputs) await see(statement, input)
    },
    write: (work: (tx: Transaction) => Promise<unknown>) => work(db),
  } as unknown as Database & Transaction
  return { db, statements }
}

eachDatabase('how what is due is found', ({ open, engine }) => {
  async function plansOf(
    work: (db: Database & Transaction) => Promise<unknown>,
  ): Promise<{ sql: string; plan: string }[]> {
    const db = await open()
    await addDestinations(db, 20)
    await addNamespace(db)
    const rows = Array.from({ length: 400 }, (_, n) => {
      const [state, due] = [n % 5 === 0 ? 3 : 2, 100 + n]
      const next = state === 3 || n % 7 === 0 ? due : null
      return { destination: 1 + (n % 20), state, due, next, deadline: n % 3 === 0 ? 1_000 + n : null }
    })
    const closed = { destination: 1, state: 5, due: null, next: null, deadline: null, closed: 50 }
    await fillRuns(db, [...rows, closed, closed])
    return db.write(
      async (tx) => {
        await refuseShortCuts(tx)
        const { db: seen, statements } = watched(tx)
        await work(seen)
        const plans: { sql: string; plan: string }[] = []
        for (const each of statements) plans.push({ sql: each.sql, plan: await planOf(tx, each) })
        return plans
      },
      { alone: true },
    )
  }

  const looks: Record<string, (db: Database & Transaction) => Promise<unknown>> = {
    destinationsDue: (db) => destinationsDue(db, 3, 5, 300),
    takeDue: (db) => takeDue(db, { destinationId: 2, now: 300, limit: 5, leaseUntil: 900, owner: 'me', exclude: [7] }),
    'takeDue of one': (db) =>
      takeDue(db, { destinationId: 2, now: 300, limit: 5, leaseUntil: 900, owner: 'me', exclude: [], only: 22 }),
    backoffsDue: (db) => backoffsDue(db, 300, 5, { at: 150, runNumber: 3 }),
    timeoutsDue: (db) => timeoutsDue(db, 1_100, 5, { at: 1_050, runNumber: 3 }),
    delayedDue: (db) => delayedDue(db, 200, 300),
    nextDue: (db) => nextDue(db, 300),
    waitingCounts: (db) => waitingCounts(db, [2, 3]),
    leasedByOthers: (db) => leasedByOthers(db, [2, 3], { owner: 'me', now: 300, until: 900 }),
    clampDue: (db) => clampDue(db, 300),
    'findRun, the latest': (db) => findRun(db, NAMESPACE, '5', null),
    'findRun by its id': (db) => findRun(db, NAMESPACE, '5', '5'),
    'a start': (db) => startIn(db, { callbackId: 'new', destinationId: 1 }),
    deleteClosedRuns: (db) => deleteClosedRuns(db, NAMESPACE, 60),
  }
  for (const [name, look] of Object.entries(looks)) {
    test(`${name} reads no table from end to end`, async () => {
      const plans = await plansOf(look)
      assert.ok(plans.length > 0)
      for (const { sql, plan } of plans) assert.doesNotMatch(plan, SCAN, `${sql}\n${plan}`)
    })
  }

  test('runs that wait are not sorted to find the first of them', async () => {
    const names = [
      'destinationsDue',
      'backoffsDue',
      'timeoutsDue',
      'nextDue',
      ...(engine === 'sqlite' ? ['takeDue'] : []),
    ]
    for (const name of names) {
      for (const { sql, plan } of await plansOf(looks[name] as (typeof looks)[string])) {
        assert.doesNotMatch(plan, SORT, `${sql}\n${plan}`)
      }
    }
  })

  test('runs past their retention are chosen before anything else of them is looked at', {
    skip: engine === 'sqlite' && 'it goes through them in their order there',
  }, async () => {
    const [seen] = await plansOf(looks.deleteClosedRuns as (typeof looks)[string])
    assert.match(seen?.plan ?? '', /Join.*Limit.*callback_runs.*callback_inputs/s)
  })

  test('one look finds the next destination, and one whether something is due there', async () => {
    const [seen] = await plansOf((db) => destinationsDue(db, 0, 100, 300))
    const plan = seen?.plan ?? ''
    if (engine === 'sqlite') {
      assert.equal(plan.match(/INDEX callback_runs_due \(destination_id>\?\)/g)?.length, 2, plan)
      assert.match(plan, /INDEX callback_runs_due \(destination_id=\?\)/)
    } else {
      assert.match(
        plan,
        /Index Cond: \(destination_id > .*WorkTable Scan.*Index Cond: \(destination_id = waiting.id\)/s,
      )
      assert.doesNotMatch(plan, /Aggregate|Join/)
    }
  })
})
