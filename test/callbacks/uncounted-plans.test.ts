import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { parseQuery } from '../../src/callbacks/query/parse-query.ts'
import { whereCondition } from '../../src/callbacks/query/store-query.ts'
import { findDescribed, findOutcome } from '../../src/callbacks/run/store-describe.ts'
import { LISTED_COLUMNS } from '../../src/callbacks/run/store-list.ts'
import { findRun } from '../../src/callbacks/run/store-runs.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { planOf } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { CATALOGUE } from './condition-samples.ts'
import { seenStatements } from './seen-statements.ts'
import { fillRuns } from './store-rows.ts'
import { NAMESPACE } from './store-world.ts'

/** Closed runs that have an attribute `Old` each, as the statistics know, and two of them other ones since. */
async function fill(db: Database): Promise<void> {
  const row = { destination: 1, state: 5, due: null, next: null, deadline: null, closed: 5 }
  await fillRuns(
    db,
    Array.from({ length: 3_000 }, () => row),
  )
  const add = (name: string, upTo: number) =>
    db.write((tx) =>
      sql`insert into callback_attributes (run_number, name, place, type, text_value, number_value)
        select run_number, ${name}, 0, 'Keyword', 'a', null from callback_runs where run_number <= ${upTo}`.execute(
        tx.query,
      ),
    )
  await add('Old', 3_000)
  if (db.engine === 'postgres') await db.write((tx) => sql`analyze`.execute(tx.query))
  await add('K', 2)
}

function planFor(db: Reader, query: string): Promise<string> {
  const { condition } = parseQuery(query, CATALOGUE, { allowsGroupBy: false })
  const where = whereCondition(db.engine, LISTED_COLUMNS, condition)
  const select = sql`select r.run_number from callback_runs r where r.namespace_id = ${NAMESPACE} and ${where}`
  return planOf(db, select.compile(db.query))
}

eachDatabase('what PostgreSQL has not counted', ({ engine, open }) => {
  test('an attribute that is new is looked up for each run, and those of other runs are not read', async () => {
    const db = await open()
    await fill(db)
    for (const query of ['K = "a"', 'K != "a"', 'K is null', 'K is not null', 'K = "a" or I > 5', 'not K = "a"']) {
      const plan = await planFor(db, query)
      assert.match(
        plan,
        engine === 'sqlite'
          ? /SEARCH a (EXISTS )?USING PRIMARY KEY \(run_number=\? AND name=\?/
          : /Index Cond: \(\(run_number = r.run_number\) AND \(name = 'K'/,
        `${query}\n${plan}`,
      )
      assert.doesNotMatch(plan, /Seq Scan on callback_attributes|SCAN a\b|Join/, `${query}\n${plan}`)
    }
  })

  test('a run is found by its id, however many runs its callback has', async () => {
    const db = await open()
    await fill(db)
    await db.write((tx) => sql`update callback_runs set callback_id = 'same' where run_number > 1500`.execute(tx.query))
    const statements = await seenStatements(db, async (reader) => {
      assert.equal((await findOutcome(reader, NAMESPACE, 'same', '2000'))?.runNumber, 2_000)
      assert.equal(await findOutcome(reader, NAMESPACE, 'other', '2000'), undefined)
      await findRun(reader, NAMESPACE, 'same', '2000')
      await findDescribed(reader, NAMESPACE, 'same', { runId: '2000', withCompletion: true })
    })
    assert.equal(statements.length, 4)
    for (const seen of statements) {
      const plan = await planOf(db, seen)
      assert.match(plan, engine === 'sqlite' ? /SEARCH r .*\(run_id=\?\)/ : /Index Cond: \(run_id = '2000'/, plan)
    }
  })
})
