import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { postgresUrl } from './postgres.ts'
import { silentLogger } from './silent-logger.ts'
import { tempDir } from './temp-dir.ts'

export interface TestDatabase {
  url: string
  /** Ends every connection to it and removes it. */
  drop(): Promise<void>
}

const MIGRATIONS = fileURLToPath(new URL('../../src/platform/storage/migrations', import.meta.url))
// Any fixed number: test files that run side by side make the template once.
const TEMPLATE_LOCK = 5_120_447_031

/** A new database in the PostgreSQL of this run: with our schema, or really empty. */
export async function createDatabase(options: { migrated: boolean }): Promise<TestDatabase> {
  const server = await postgresUrl()
  const template = options.migrated ? await migratedTemplate(server) : 'template0'
  const name = `commonplace_test_${process.pid}_${randomBytes(5).toString('hex')}`
  // Files are copied: by way of the log it would take three times as long.
  await onServer(server, (client) => client.query(`create database ${name} template ${template} strategy file_copy`))
  return {
    url: withDatabase(server, name),
    drop: () =>
      onServer(server, async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  }
}

let ready: Promise<string> | undefined

/** Migrating costs far more than copying, so it is done once per run and per state of the migrations. */
function migratedTemplate(server: string): Promise<string> {
  ready ??= onServer(server, async (client) => {
    const name = `commonplace_template_${migrationsHash()}`
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      // It gets its name when it is complete: a run that is killed half-way leaves no half template.
      const building = `${name}_building`
      await client.query(`drop database if exists ${building} with (force)`)
      await client.query(`create database ${building} template template0`)
      await migrateAt(withDatabase(server, building))
      await client.query(`alter database ${building} rename to ${name}`)
    }
    return name
  })
  return ready
}

async function migrateAt(databaseUrl: string): Promise<void> {
  const options = { clock: new SystemClock(), log: silentLogger() }
  const db = await openDatabase({ databaseUrl, dataDir: tempDir(), poolSize: 1, ...options })
  await migrate(db, options)
  await db.close()
}

function migrationsHash(): string {
  const hash = createHash('sha256')
  for (const file of readdirSync(MIGRATIONS).sort()) hash.update(file).update(readFileSync(join(MIGRATIONS, file)))
  return hash.digest('hex').slice(0, 16)
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'commonplace tests' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}
