import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { attributeRows } from '../../src/callbacks/query/attribute-rows.ts'
import { deleteRun } from '../../src/callbacks/run/store-delete.ts'
import { deleteClosedRuns, RETENTION_CHUNK } from '../../src/callbacks/run/store-retention.ts'
import { findRun } from '../../src/callbacks/run/store-runs.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import {
  FATAL,
  live,
  NAMESPACE,
  RETRYABLE,
  reread,
  settlementOf,
  start,
  startMany,
  store,
  TERMINATE,
} from './store-world.ts'

const TABLES = ['callback_runs', 'callback_inputs', 'callback_failures', 'callback_attempts', 'callback_attributes']
const ATTRIBUTES = attributeRows('K', 'Keyword', ['x'])

/** Which runs each table has something of. */
async function runsIn(db: Database): Promise<number[][]> {
  const found: number[][] = []
  for (const table of TABLES) {
    const { rows } = await sql<{ run_number: number }>`
      select distinct run_number from ${sql.table(table)} order by run_number`.execute(db.query)
    found.push(rows.map(({ run_number }) => run_number))
  }
  return found
}

eachDatabase('deleting runs', ({ open }) => {
  test('nothing of a deleted run is left, and nothing else goes', async () => {
    const db = await open()
    const [first, second] = await startMany(db, [{ attributes: ATTRIBUTES }, { attributes: ATTRIBUTES }])
    assert.ok(first && second)
    for (const run of [first, second]) await live(db, run, [RETRYABLE, 2_000], [TERMINATE, 3_000])
    const before = await reread(db, second)
    assert.equal(await db.write((tx) => deleteRun(tx, first.runNumber)), true)
    assert.deepEqual(await runsIn(db), Array(TABLES.length).fill([second.runNumber]))
    assert.deepEqual(await reread(db, second), before)
    assert.equal(await db.write((tx) => deleteRun(tx, first.runNumber)), false)
  })

  test('the run before the deleted one is the latest again', async () => {
    const db = await open()
    const first = await start(db, { callbackId: 'a' })
    await live(db, first, [FATAL, 2_000])
    const second = await start(db, { callbackId: 'a' })
    await db.write((tx) => deleteRun(tx, second.runNumber))
    assert.equal((await findRun(db, NAMESPACE, 'a', null))?.runId, first.runId)
  })

  test('a running one may be deleted, and its attempt settles nothing', async () => {
    const db = await open()
    const run = await start(db, { callbackId: 'a' })
    await db.write((tx) => deleteRun(tx, run.runNumber))
    assert.equal((await store(db, [settlementOf(run, FATAL, 2_000)])).size, 0)
    assert.deepEqual(await runsIn(db), Array(TABLES.length).fill([]))
    await start(db, { callbackId: 'a' })
  })

  test('what closed before a time goes in chunks, the oldest first; the rest stays', async () => {
    const db = await open()
    const other = newId<'Namespace'>()
    const many = Array.from({ length: 2 * RETENTION_CHUNK + 3 }, () => ({ attributes: ATTRIBUTES }))
    const runs = await startMany(db, [...many, {}, { namespaceId: other }])
    const [theirs, running] = [runs.pop(), runs.pop()]
    assert.ok(theirs && running)
    // The last ones that were started closed first.
    const batch = runs.map((run, n) => settlementOf(run, FATAL, 10_000 - n))
    for (let at = 0; at < batch.length; at += 300) await store(db, batch.slice(at, at + 300))
    await live(db, theirs, [FATAL, 2_000])

    const clear = (before?: number) => db.write((tx) => deleteClosedRuns(tx, NAMESPACE, before), { alone: true })
    const [newest] = runs
    assert.ok(newest)
    assert.equal(await clear(10_000), RETENTION_CHUNK)
    assert.equal((await runsIn(db))[0]?.includes(runs.at(-1)?.runNumber ?? 0), false)
    assert.equal(await clear(10_000), RETENTION_CHUNK)
    assert.equal(await clear(10_000), 2)
    assert.equal(await clear(10_000), 0)
    const left = [newest.runNumber, running.runNumber, theirs.runNumber]
    assert.deepEqual((await runsIn(db)).slice(0, 2), [left, left])
    assert.equal(await clear(), 1)
    assert.equal(await clear(), 0)
    assert.deepEqual((await runsIn(db))[0], [running.runNumber, theirs.runNumber])
  })

  test('of large ones, and of those with many attempts, fewer go at a time', async () => {
    const db = await open()
    const clear = () => db.write((tx) => deleteClosedRuns(tx, NAMESPACE), { alone: true })
    for (const part of ['completion', 'callback', 'searchAttributes']) {
      const runs = await startMany(db, Array(6).fill({ [part]: Buffer.alloc(2 * 1024 * 1024) }))
      for (const run of runs) await live(db, run, [FATAL, 2_000])
      assert.deepEqual([await clear(), await clear(), await clear()], [2, 2, 2], part)
    }

    const tried = await startMany(db, Array(20).fill({}))
    for (const run of tried) await live(db, run, [FATAL, 2_000])
    await db.write((tx) => tx.query.updateTable('callback_runs').set({ attempt: 1_000 }).execute())
    assert.deepEqual([await clear(), await clear(), await clear(), await clear()], [9, 9, 2, 0])
    assert.deepEqual(await runsIn(db), Array(TABLES.length).fill([]))
  })
})
