import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate, schemaVersion } from '../../src/platform/storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/platform/storage/migrations/index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startChild } from './start-child.ts'

const options = { clock: new SystemClock(), log: silentLogger() }
const numbers = MIGRATIONS.map((_, index) => index + 1)

function creating(name: string): Migration {
  return { name, up: async (db) => void (await sql`create table ${sql.table(name)} (id text primary key)`.execute(db)) }
}

async function hasTable(db: Database, name: string): Promise<boolean> {
  return (await db.query.introspection.getTables()).some((table) => table.name === name)
}

eachDatabase('migrations', ({ open, openAgain, placeOf }) => {
  test('bring an empty database to this version, once', async () => {
    const db = await open({ migrated: false })
    assert.deepEqual(await schemaVersion(db), {
      version: 0,
      known: MIGRATIONS.length,
      pending: MIGRATIONS.map(({ name }) => name),
    })
    assert.deepEqual(await migrate(db, options), numbers)
    assert.deepEqual(await migrate(db, options), [])
    assert.deepEqual(await schemaVersion(db), { version: MIGRATIONS.length, known: MIGRATIONS.length, pending: [] })
  })

  test('are done once by processes that start together', async () => {
    const db = await open({ migrated: false })
    const place = placeOf(db)
    await db.close()
    const children = Array.from({ length: 3 }, () => startChild({ place, do: 'migrate' }))
    for (const child of children) assert.equal(await child.nextLine(), 'ready')
    for (const child of children) child.letGo()
    const said = await Promise.all(children.map((child) => child.nextLine()))
    assert.deepEqual(said.sort(), [`migrated ${JSON.stringify(numbers)}`, 'migrated []', 'migrated []'])
    assert.deepEqual(await Promise.all(children.map((child) => child.ended)), [0, 0, 0])
  })

  test('are done once by two of the same process', async () => {
    const first = await open({ migrated: false })
    const second = await openAgain(first)
    const done = await Promise.all([migrate(first, options), migrate(second, options)])
    assert.deepEqual(done.flat(), numbers)
  })

  test('leave nothing behind when one of them fails', async () => {
    const db = await open({ migrated: false })
    const failing: Migration = {
      name: 'failing',
      async up(query) {
        await sql`create table half (id text)`.execute(query)
        await sql`insert into missing values (1)`.execute(query)
      },
    }
    await assert.rejects(migrate(db, { ...options, migrations: [creating('whole'), failing] }))
    for (const table of ['whole', 'half', 'schema_migrations']) assert.equal(await hasTable(db, table), false, table)
    assert.deepEqual(await migrate(db, { ...options, migrations: [creating('whole')] }), [1])
  })

  test('go on from where an older version stopped, and say how far they are', async () => {
    const db = await open({ migrated: false })
    const [first, second, third] = [creating('one'), creating('two'), creating('three')]
    await migrate(db, { ...options, migrations: [first] })
    const progress: [number, number, string][] = []
    const onProgress = (...step: [number, number, string]) => void progress.push(step)
    assert.deepEqual(await migrate(db, { ...options, migrations: [first, second, third], onProgress }), [2, 3])
    assert.deepEqual(progress, [
      [0, 2, 'two'],
      [1, 2, 'three'],
    ])
  })

  test('refuse a database of a newer version or of another program, and change nothing', async () => {
    const db = await open({ migrated: false })
    await migrate(db, { ...options, migrations: [creating('one'), creating('two')] })
    await assert.rejects(
      migrate(db, { ...options, migrations: [creating('one')] }),
      /made by a newer version of Commonplace \(schema 2, this version knows 1\)/,
    )
    await assert.rejects(
      migrate(db, { ...options, migrations: [creating('one'), creating('other'), creating('more')] }),
      /unknown schema \(step 2 is "two"\)/,
    )
    // Longer than ours, and yet no newer version of it: there is none to start.
    await assert.rejects(
      migrate(db, { ...options, migrations: [creating('other')] }),
      /unknown schema \(step 1 is "one"\)/,
    )
    await assert.rejects(schemaVersion(db), /newer version|unknown schema/)
    assert.equal(await hasTable(db, 'more'), false)
  })
})
