import { type Kysely, sql } from 'kysely'
import type { Clock } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database, Reader, Transaction } from './database.ts'
import { MIGRATIONS, type Migration } from './migrations/index.ts'
import { prepareSchema } from './postgres-rights.ts'

declare module './tables.ts' {
  interface Tables {
    schema_migrations: { number: number; name: string; applied_at: number }
  }
}

export interface MigrateOptions {
  clock: Clock
  log: Logger
  onProgress?: (done: number, total: number, name: string) => void
  /** The list of this version unless a test brings its own. */
  migrations?: readonly Migration[]
}

// Any fixed number; it keeps two processes that start together from migrating at the same time.
const ADVISORY_LOCK = 7_314_902_215

/** Tells processes that run already; those of an earlier version have to know. */
export const SCHEMA_TOPIC = 'storage.schema'

/**
 * Brings the schema to this version, all pending migrations in one transaction: either every one of them happened or
 * none. Processes that start together queue up, and the later ones find nothing left to do.
 */
export function migrate(db: Database, options: MigrateOptions): Promise<number[]> {
  return db.write((tx) => migrateIn(tx, options), { alone: true, isolation: 'read committed' })
}

/** The same inside a transaction that does more. */
export async function migrateIn(tx: Transaction, options: MigrateOptions): Promise<number[]> {
  const { clock, log, onProgress, migrations = MIGRATIONS } = options
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx.query)
  // NOTE Not "if not exists": PostgreSQL would ask for the right to create it, also of a role that has nothing to create.
  const isEmpty = !(await hasMigrationsTable(tx))
  const applied = isEmpty ? [] : await appliedMigrations(tx)
  refuseForeignSchema(applied, migrations)
  // Of a large database it takes a while, in which nothing else is heard of the start.
  if (!isEmpty && applied.length < migrations.length) {
    log.info(`bringing the database schema from version ${applied.length} to ${migrations.length}`)
  }
  if (tx.engine === 'postgres' && applied.length < migrations.length) await prepareSchema(tx)
  if (isEmpty) await createMigrationsTable(tx)
  const done: number[] = []
  for (const [index, migration] of migrations.entries()) {
    const number = index + 1
    if (number <= applied.length) continue
    onProgress?.(done.length, migrations.length - applied.length, migration.name)
    await migration.up(tx.query as unknown as Kysely<unknown>, tx.engine)
    await tx.query
      .insertInto('schema_migrations')
      .values({ number, name: migration.name, applied_at: clock.now() })
      .execute()
    done.push(number)
  }
  if (done.length > 0) {
    tx.signal(SCHEMA_TOPIC)
    tx.afterCommit(() => log.info({ migrations: done }, `the database schema is now at version ${migrations.length}`))
  }
  return done
}

export interface SchemaState {
  /** Number of the newest applied migration; 0 for an empty database. */
  version: number
  /** The version this program brings. */
  known: number
  pending: string[]
}

/** Reads the state without changing it; refuses a schema that this version does not understand. */
export async function schemaVersion(db: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<SchemaState> {
  const applied = (await hasMigrationsTable(db)) ? await appliedMigrations(db) : []
  refuseForeignSchema(applied, migrations)
  return {
    version: applied.length,
    known: migrations.length,
    pending: migrations.slice(applied.length).map((migration) => migration.name),
  }
}

async function createMigrationsTable(tx: Transaction): Promise<void> {
  await tx.query.schema
    .createTable('schema_migrations')
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute()
}

async function hasMigrationsTable(db: Reader): Promise<boolean> {
  if (db.engine === 'postgres') return hasPostgresMigrationsTable(db)
  const { rows } = await sql`select 1 from sqlite_master where type = 'table' and name = 'schema_migrations'`.execute(
    db.query,
  )
  return rows.length > 0
}

/** Others have a table of that name, too. One in a schema behind ours is not in the way. */
async function hasPostgresMigrationsTable(db: Reader): Promise<boolean> {
  const { rows } = await sql<{ isOurs: boolean; isInTheWay: boolean }>`
    select nspname = current_schema() as "isInTheWay", 3 = (
      select count(*) from pg_attribute
      where attrelid = found.oid and attname in ('number', 'name', 'applied_at') and not attisdropped
    ) as "isOurs"
    from pg_class found join pg_namespace on pg_namespace.oid = relnamespace
    where found.oid = to_regclass('schema_migrations')`.execute(db.query)
  const [table] = rows
  if (table?.isInTheWay && !table.isOurs) {
    throw new AppError(
      'failed_precondition',
      'The database has a table schema_migrations of another program: choose another database, or a schema of its own for Commonplace',
    )
  }
  return table?.isOurs === true
}

function appliedMigrations(db: Reader): Promise<{ number: number; name: string }[]> {
  return db.query.selectFrom('schema_migrations').select(['number', 'name']).orderBy('number').execute()
}

function refuseForeignSchema(applied: { number: number; name: string }[], migrations: readonly Migration[]): void {
  // A newer version has all of our steps, and more.
  const shared = applied.slice(0, migrations.length)
  const stranger = shared.find(({ number, name }, index) => number !== index + 1 || migrations[index]?.name !== name)
  if (stranger !== undefined) {
    throw new AppError(
      'failed_precondition',
      `The database has an unknown schema (step ${stranger.number} is "${stranger.name}"): ` +
        'it belongs to another program or version; choose another database',
    )
  }
  if (applied.length > migrations.length) {
    throw new AppError(
      'failed_precondition',
      `The database was made by a newer version of Commonplace (schema ${applied.length}, this version knows ` +
        `${migrations.length}): start the newer version, or restore a backup made by this one`,
    )
  }
}
