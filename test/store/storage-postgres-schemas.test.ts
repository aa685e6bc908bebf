/** A database that is shared: with another program, or with another installation in a schema of its own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate, schemaVersion } from '../../src/platform/storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/platform/storage/migrations/index.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const unavailable = postgresUnavailable()
const skip = unavailable !== null && `PostgreSQL: ${unavailable}`
const options = { clock: new SystemClock(), log: silentLogger() }

describe('a PostgreSQL database that is shared', { skip }, () => {
  async function databaseWith(statements: string): Promise<(schema?: string) => string> {
    const { url } = await createDatabase({ migrated: false })
    const client = new pg.Client(url)
    await client.connect()
    await client.query(statements).finally(() => client.end())
    return (schema) =>
      schema === undefined ? url : `${url}?options=${encodeURIComponent(`-c search_path="${schema}",public`)}`
  }

  const openAt = (databaseUrl: string) => openDatabase({ databaseUrl, dataDir: tempDir(), poolSize: 2, ...options })

  test('a table schema_migrations of another program is told in one sentence, and is not in the way of a schema of its own', async () => {
    const urlOf = await databaseWith('create table schema_migrations (version text primary key); create schema kb')
    await using beside = await openAt(urlOf())
    await assert.rejects(
      migrate(beside, options),
      /a table schema_migrations of another program: choose another database/,
    )
    await using own = await openAt(urlOf('kb'))
    assert.equal((await schemaVersion(own)).version, 0)
    assert.equal((await migrate(own, options)).length, MIGRATIONS.length)
    assert.equal((await schemaVersion(own)).version, MIGRATIONS.length)
  })

  test('an installation in another schema is not heard', async () => {
    const urlOf = await databaseWith('create schema live; create schema staging')
    await using live = await openAt(urlOf('live'))
    await using neighbour = await openAt(urlOf('live'))
    await using staging = await openAt(urlOf('staging'))
    const { promise: heard, resolve } = Promise.withResolvers<string>()
    live.subscribe('news', resolve)
    await staging.write(async (tx) => tx.signal('news', 'of staging'))
    await neighbour.write(async (tx) => tx.signal('news', 'of live'))
    assert.equal(await heard, 'of live')
  })

  test('a backup is restored into a schema with a capital and a hyphen in its name', async () => {
    const urlOf = await databaseWith('create schema "My-Notes"')
    const [dataDir, file] = [tempDir(), `${tempDir()}/backup.gz`]
    const source = await openDatabase({ dataDir, ...options })
    await migrate(source, options)
    await createBackup({ db: source, clock: options.clock, file, format: 'dump' })
    await source.close()
    const restored = await restoreBackup({ file, dataDir, databaseUrl: urlOf('My-Notes'), ...options })
    assert.equal(restored.schema, MIGRATIONS.length)
  })

  test('a backup is restored into empty tables behind an empty schema, in whatever order rows refer to each other', async () => {
    const urlOf = await databaseWith('create schema "empty"')
    const circle: Migration = {
      name: 'circle',
      async up(db) {
        await sql`create table crews (id text primary key)`.execute(db)
        await sql`create table mates (id text primary key, crew_id text references crews (id))`.execute(db)
        await sql`alter table crews add column lead_id text references mates (id)`.execute(db)
      },
    }
    const migrations = [...MIGRATIONS, circle]
    const [dataDir, file] = [tempDir(), `${tempDir()}/backup.gz`]
    await using source = await openDatabase({ dataDir, ...options })
    await migrate(source, { ...options, migrations })
    await source.write(async (tx) => {
      await sql`insert into crews (id) values ('c')`.execute(tx.query)
      await sql`insert into mates values ('m', 'c')`.execute(tx.query)
      await sql`update crews set lead_id = 'm'`.execute(tx.query)
    })
    await createBackup({ db: source, clock: options.clock, file, format: 'dump', migrations })
    await using target = await openAt(urlOf())
    await migrate(target, { ...options, migrations })
    const { rows } = await restoreBackup({ file, dataDir, databaseUrl: urlOf('empty'), ...options, migrations })
    assert.deepEqual([rows.crews, rows.mates], [1, 1])
  })
})
