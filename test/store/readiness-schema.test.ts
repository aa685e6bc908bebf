import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { Readiness } from '../../src/platform/readiness/readiness.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/platform/storage/migrations/index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'

const NUMBER = MIGRATIONS.length + 1
const NOT_READY = { ready: false, reason: 'a newer version has changed the database' }

/** As a newer version does to a database that is in use. */
async function migrateFurther(db: Database): Promise<void> {
  const later: Migration = {
    name: 'of the future',
    up: async (query) => void (await sql`create table later (id integer)`.execute(query)),
  }
  const options = { clock: new SystemClock(), log: silentLogger(), migrations: [...MIGRATIONS, later] }
  assert.deepEqual(await migrate(db, options), [NUMBER])
}

eachDatabase('a schema that a newer version changed under this one', ({ engine, open, openAgain, placeOf }) => {
  test('is noticed once, and for good', async () => {
    const db = await open()
    const clock = new SystemClock()
    const noticed = Promise.withResolvers<void>()
    let times = 0
    const onOutdated = () => {
      times++
      noticed.resolve()
    }
    const readiness = new Readiness({ db, clock, log: silentLogger(), onOutdated })
    const stopping = new AbortController()
    const running = readiness.run(stopping.signal)
    assert.deepEqual(await readiness.check(), { ready: true })
    await migrateFurther(await openAgain(db))
    await noticed.promise
    assert.equal(readiness.status(), 'not_serving')
    stopping.abort()
    await running
    await db.write((tx) => tx.query.deleteFrom('schema_migrations').where('number', '=', NUMBER).execute())
    assert.deepEqual(await readiness.check(), NOT_READY)
    assert.equal(times, 1)
  })

  test('makes a server say that it is not ready, and leave jobs to those who know the schema', async () => {
    const db = await open()
    const { databaseUrl, dataDir } = placeOf(db)
    await using server = await startServer({ engine, dataDir, ...(databaseUrl !== null && { databaseUrl }) })
    await migrateFurther(db)
    await server.says(/a newer version has changed the database: start this one in that version/)
    const response = await fetch(`${server.url}/readyz`)
    assert.deepEqual([response.status, await response.json()], [503, { status: `not ready: ${NOT_READY.reason}` }])
    const admin = client(server)
    const { external_id: project } = (await admin.post('/v2/projects/resolve', 200, { body: { identifier: 'main' } }))
      .body
    await admin.post(`/v2/projects/${project}/index`, 200)
    // Longer than a job takes that somebody does.
    for (let index = 0; index < 20; index++) {
      const { body } = await admin.post(`/v2/projects/${project}/status`, 200)
      assert.deepEqual(body.index, { state: 'waiting', done: 0 })
    }
    assert.deepEqual(await server.stop(), { status: 0, signal: null })
  })
})
