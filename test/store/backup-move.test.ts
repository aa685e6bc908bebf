import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { checkBackup, restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { migrate, schemaVersion } from '../../src/platform/storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/platform/storage/migrations/index.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import type { Place } from '../support/each-database.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { addProject, contentsOf, fillWithSamples } from './backup-samples.ts'

const clock = new SystemClock()
const log = silentLogger()
const unavailable = postgresUnavailable()
const databases: TestDatabase[] = []

after(() => Promise.all(databases.map((database) => database.drop())))

async function newPlace(engine: Engine): Promise<Place> {
  if (engine === 'sqlite') return { dataDir: tempDir(), databaseUrl: null }
  const database = await createDatabase({ migrated: false })
  databases.push(database)
  return { dataDir: tempDir(), databaseUrl: database.url }
}

async function openAt(place: Place, migrations: readonly Migration[]): Promise<Database> {
  const db = await openDatabase({ ...place, poolSize: 3, clock, log })
  await migrate(db, { clock, log, migrations })
  return db
}

/** 0: not even our tables are there. */
async function versionAt(place: Place): Promise<number> {
  await using db = await openDatabase({ ...place, clock, log })
  return (await schemaVersion(db)).version
}

// What a later version may bring: a table that refers to itself, a circle of two, rows from the migration itself, a
// generated column, and a change of what is there.
const later: Migration = {
  name: 'later',
  async up(db: Kysely<unknown>, engine) {
    for (const text of [
      `create table shelves (id text primary key, parent_id text references shelves (id), name text not null,
        folded text generated always as (lower(name)) stored)`,
      `create table captains (id text primary key, ship_id text not null)`,
      `create table ships (id text primary key, captain_id text not null references captains (id))`,
      engine === 'sqlite'
        ? `create table crews (id text primary key, lead_id text references mates (id))`
        : `create table crews (id text primary key, lead_id text)`,
      `create table mates (id text primary key, crew_id text references crews (id))`,
      ...(engine === 'postgres'
        ? [`alter table crews add constraint lead foreign key (lead_id) references mates (id)`]
        : []),
      `create table kinds (name text primary key)`,
      `insert into kinds (name) values ('built in')`,
    ]) {
      await sql.raw(text).execute(db)
    }
  },
}
const newest: Migration = {
  name: 'newest',
  up: async (db) => void (await sql`alter table kinds add column shown integer not null default 1`.execute(db)),
}
const upToLater = [...MIGRATIONS, later]
const all = [...upToLater, newest]

async function fillLater(db: Database): Promise<void> {
  await db.write(async (tx) => {
    for (const text of [
      `insert into shelves (id, parent_id, name) values ('a', null, 'A')`,
      `insert into shelves (id, parent_id, name) values ('0', 'a', 'Child Before Its Parent In Every Order')`,
      `insert into crews values ('c', null)`,
      `insert into mates values ('m', 'c')`,
      `update crews set lead_id = 'm'`,
      `insert into kinds (name) values ('of mine')`,
    ]) {
      await sql.raw(text).execute(tx.query)
    }
  })
}

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
] as const) {
  const skip = unavailable !== null && (from === 'postgres' || to === 'postgres') && `PostgreSQL: ${unavailable}`
  describe(`a dump from ${from} into ${to}`, { skip }, () => {
    test('moves everything, and numbers go on where they were', async () => {
      await using source = await openAt(await newPlace(from), MIGRATIONS)
      await fillWithSamples(source)
      const file = join(tempDir(), 'backup.jsonl.gz')
      await createBackup({ db: source, file, clock, format: 'dump' })
      const place = await newPlace(to)
      await restoreBackup({ file, ...place, clock, log })
      await using target = await openDatabase({ ...place, clock, log })
      assert.equal(target.engine, to)
      assert.deepEqual(await contentsOf(target), await contentsOf(source))
      assert.equal(await addProject(target, 'next'), 6)
    })

    test('made by an older version is restored and brought up to date', async () => {
      await using source = await openAt(await newPlace(from), upToLater)
      await fillWithSamples(source)
      await fillLater(source)
      const file = join(tempDir(), 'backup.jsonl.gz')
      const made = await createBackup({ db: source, file, clock, format: 'dump', migrations: all })
      assert.equal(made.schema, upToLater.length)
      const place = await newPlace(to)
      await restoreBackup({ file, ...place, clock, log, migrations: all })
      await using target = await openDatabase({ ...place, clock, log })
      assert.equal((await schemaVersion(target, all)).version, all.length)
      const { kinds: _, ...expected } = await contentsOf(source, upToLater)
      const { kinds, ...found } = await contentsOf(target, all)
      assert.deepEqual(found, expected)
      assert.deepEqual(kinds, ['["built in",1]', '["of mine",1]'])
      await assert.rejects(
        target.write((tx) =>
          sql`insert into shelves (id, parent_id, name) values ('x', 'nobody', 'n')`.execute(tx.query),
        ),
      )
    })

    test('that cannot be brought up to date leaves the target as it was, and can be restored there later', async () => {
      await using source = await openAt(await newPlace(from), MIGRATIONS)
      await fillWithSamples(source)
      const file = join(tempDir(), 'backup.jsonl.gz')
      await createBackup({ db: source, file, clock, format: 'dump' })
      const place = await newPlace(to)
      const broken: Migration = { name: 'broken', up: async () => assert.fail('this step fails') }
      const restored = restoreBackup({ file, ...place, clock, log, migrations: [...MIGRATIONS, broken] })
      await assert.rejects(restored, /this step fails/)
      assert.equal(await versionAt(place), 0)
      await restoreBackup({ file, ...place, clock, log })
      await using target = await openDatabase({ ...place, clock, log })
      assert.deepEqual(await contentsOf(target), await contentsOf(source))
    })

    test('made by a newer version is refused, and the target stays as it was', async () => {
      await using source = await openAt(await newPlace(from), all)
      const file = join(tempDir(), 'backup.jsonl.gz')
      await createBackup({ db: source, file, clock, format: 'dump', migrations: all })
      const place = await newPlace(to)
      const reason = new RegExp(
        `made by a newer version of Commonplace \\(schema ${all.length}, this version knows ${MIGRATIONS.length}\\)`,
      )
      await assert.rejects(restoreBackup({ file, ...place, clock, log }), reason)
      await assert.rejects(checkBackup({ file }), reason)
      assert.equal(await versionAt(place), 0)
    })
  })
}

describe('a row that PostgreSQL cannot hold', { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
  test('is named, and the target stays empty', async () => {
    await using source = await openAt(await newPlace('sqlite'), MIGRATIONS)
    await addProject(source, 'good')
    await addProject(source, 'bad \0 text')
    const file = join(tempDir(), 'backup.jsonl.gz')
    await createBackup({ db: source, file, clock, format: 'dump' })
    const place = await newPlace('postgres')
    await assert.rejects(restoreBackup({ file, ...place, clock, log }), /PostgreSQL refuses a row of table projects/)
    assert.equal(await versionAt(place), 0)
  })
})
