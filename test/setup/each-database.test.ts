import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { schemaVersion } from '../../src/platform/storage/migrate.ts'
import { SQLITE_FILE } from '../../src/platform/storage/open.ts'
import { eachDatabase } from '../support/each-database.ts'

eachDatabase('a database for tests', ({ engine, open, openAgain, placeOf }) => {
  test('has our schema', async () => {
    const db = await open()
    assert.equal(db.engine, engine)
    const { version, known } = await schemaVersion(db)
    assert.equal(version, known)
  })

  test('is empty when asked for without migrations', async () => {
    const db = await open({ migrated: false })
    assert.equal((await schemaVersion(db)).version, 0)
  })

  test('shares nothing with the next one', async () => {
    const [first, second] = [await open(), await open()]
    await first.write((tx) =>
      tx.query.insertInto('schema_migrations').values({ number: 99, name: 'x', applied_at: 1 }).execute(),
    )
    assert.equal((await schemaVersion(second)).version, (await schemaVersion(second)).known)
    await assert.rejects(schemaVersion(first), /newer version/)
  })

  test('can be opened a second time on the same data', async () => {
    const first = await open()
    const second = await openAgain(first)
    await first.write((tx) => tx.query.deleteFrom('schema_migrations').execute())
    assert.equal((await schemaVersion(second)).version, 0)
    assert.deepEqual(placeOf(first), placeOf(second))
    assert.equal(existsSync(join(placeOf(first).dataDir, SQLITE_FILE)), engine === 'sqlite')
  })

  test('may be closed by the test that opened it', async () => {
    const db = await open()
    await db.close()
  })
})
