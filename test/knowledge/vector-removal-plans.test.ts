import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { removeVectorsOf } from '../../src/knowledge/semantic/sync/store-vectors.ts'
import { eachDatabase } from '../support/each-database.ts'
import { VectorRows } from './vector-rows.ts'
import { planOf, watchedQuery } from './watched-reader.ts'

const NOTES = 3_000
const AT_ONCE = 10

eachDatabase('how vectors are taken away', ({ open, engine }) => {
  test('each step looks up the few that go, not all of the model, and leaves those of others', async () => {
    const db = await open()
    const vector = new Float32Array([1, 0])
    await new VectorRows(db, 1, 1).put(new Map(Array.from({ length: NOTES }, (_, n) => [1 + n, [vector]])))
    await new VectorRows(db, 2, 1).put(new Map([[NOTES + 1, [vector]]]))
    if (engine === 'postgres') await sql`analyze note_vectors`.execute(db.query)
    await db.write(
      async (tx) => {
        const { query, statements } = watchedQuery(tx.query)
        const watched = new Proxy(tx, { get: (_, name: keyof typeof tx) => (name === 'query' ? query : tx[name]) })
        await removeVectorsOf(watched, 1, AT_ONCE)
        const seen = statements.find(({ sql: text }) => /delete from "?note_vectors/.test(text))
        assert.ok(seen)
        const plan = await planOf(tx, seen)
        assert.match(plan, engine === 'sqlite' ? /note_vectors USING INTEGER PRIMARY KEY/ : /Index Cond: \(id = /, plan)
      },
      { alone: true },
    )
    const left = await sql<{ project_id: number; count: number }>`
      select project_id, count(*) as count from note_vectors group by project_id order by project_id`.execute(db.query)
    assert.deepEqual(
      left.rows.map(({ count }) => Number(count)),
      [NOTES - AT_ONCE, 1],
    )
  })
})
