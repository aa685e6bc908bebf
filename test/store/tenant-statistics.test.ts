import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import * as tenantStatistics from '../../src/platform/storage/migrations/0016-tenant-statistics.ts'
import { MIGRATIONS } from '../../src/platform/storage/migrations/index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'

interface Column {
  relname: string
  attname: string
}

/** Columns by which rows are told apart in the first place: an index begins with each. */
async function tenantColumns(db: Database, condition: 'counted' | 'uncounted'): Promise<string[]> {
  const { rows } = await sql<Column>`
    select distinct c.relname, a.attname from pg_index i
    join pg_class c on c.oid = i.indrelid
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where c.relnamespace = current_schema()::regnamespace and a.attname in ('project_id', 'namespace_id')
      and (a.attstattarget is not distinct from 0) = ${sql.lit(condition === 'uncounted')}`.execute(db.query)
  return rows.map(({ relname, attname }) => `${relname}.${attname}`).sort()
}

async function counted(db: Database): Promise<string[]> {
  await sql`analyze`.execute(db.query)
  const { rows } = await sql<{ tablename: string }>`
    select tablename from pg_stats
    where schemaname = current_schema() and tablename = 'note_changes' and attname = 'project_id'`.execute(db.query)
  return rows.map(({ tablename }) => tablename)
}

async function addChanges(db: Database): Promise<void> {
  await db.write(async (tx) => {
    for (const id of ['a', 'b', 'c']) {
      await sql`insert into note_changes (project_id, external_id, change, version, file_path, changed_at)
        values (1, ${id}, 'created', 1, ${id}, 1)`.execute(tx.query)
    }
  })
}

eachDatabase('what PostgreSQL counts of projects and namespaces', ({ engine, open }) => {
  test('is nothing, in every table whose rows belong to one', async () => {
    const db = await open()
    if (engine === 'sqlite') return
    // Of projects themselves there is one row each.
    assert.deepEqual(await tenantColumns(db, 'counted'), ['project_embeddings.project_id'])
    assert.ok((await tenantColumns(db, 'uncounted')).length >= 11)
    await addChanges(db)
    assert.deepEqual(await counted(db), [])
  })

  test('is forgotten where an earlier version had it counted, and no table is written anew for that', async () => {
    const db = await open({ migrated: false })
    if (engine === 'sqlite') return
    const options = { clock: new SystemClock(), log: silentLogger() }
    await migrate(db, { ...options, migrations: MIGRATIONS.slice(0, MIGRATIONS.indexOf(tenantStatistics)) })
    await addChanges(db)
    assert.deepEqual(await counted(db), ['note_changes'])
    const files = async () => {
      const names = sql<{ at: number }>`select pg_relation_filenode(oid) as at from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r' order by oid`
      return (await names.execute(db.query)).rows
    }
    const before = await files()
    await migrate(db, options)
    assert.deepEqual(await files(), before)
    assert.deepEqual(await counted(db), [])
  })
})
