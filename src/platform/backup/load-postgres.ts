import { CompiledQuery, sql } from 'kysely'
import { AppError } from '../errors/app-error.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { migrateIn, schemaVersion } from '../storage/migrate.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { damaged, notEmpty } from './backup-errors.ts'
import { type CatalogTable, catalogOf } from './catalog.ts'
import { countRows, firstDifference, type RowCounts } from './count-rows.ts'
import { deferCircles } from './defer-circles.ts'
import type { DumpTable, Value } from './dump-format.ts'
import { readDump, readDumpHeader } from './dump-reader.ts'
import { refuseUnknownColumns } from './known-columns.ts'
import { markRestored } from './last-restore.ts'
import { migrationsOf } from './migrations-of.ts'
import type { RestoreOptions } from './restore-options.ts'

// A statement of the extended protocol carries 65,535 parameters at most.
const MOST_PARAMETERS = 60_000

/**
 * Loads a dump in one transaction: the tables are made, locked, checked to be empty, filled, counted, brought to this version's
 * schema, and only then visible. Whatever fails leaves the database as it was.
 */
export async function loadIntoPostgres(
  db: Database,
  options: RestoreOptions,
): Promise<{ schema: number; rows: RowCounts }> {
  const { file, clock, log, onProgress, migrations: known = MIGRATIONS } = options
  const header = await readDumpHeader(file)
  const needed = migrationsOf(file, header, known)
  await refuseNonEmpty(db, await catalogOf(known))
  const { version } = await schemaVersion(db, known)
  if (version > needed.length) {
    throw new AppError(
      'failed_precondition',
      `The target database has schema ${version}, newer than the backup's ${needed.length}: restore into a new, empty database`,
    )
  }
  const tables = await catalogOf(needed)
  const fill = async (tx: Transaction) => {
    await migrateIn(tx, { clock, log, migrations: needed })
    const rows = await load(tx, tables, options)
    if (needed.length < known.length) onProgress?.('upgrading', 0, 0)
    await migrateIn(tx, { clock, log, migrations: known })
    return rows
  }
  const rows = await db.write(fill, { alone: true, isolation: 'read committed' })
  return { schema: needed.length, rows }
}

async function load(
  tx: Transaction,
  tables: CatalogTable[],
  { file, clock, onProgress }: RestoreOptions,
): Promise<RowCounts> {
  // The file may be slow, and whoever restores may pause: nobody else uses the database.
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx.query)
  const names = sql.join(tables.map(({ name }) => sql.table(name)))
  await sql`lock table ${names} in access exclusive mode`.execute(tx.query)
  // Once more, now that nobody else can write: a server may have started since the first look.
  await refuseNonEmpty(tx, tables)
  for (const { name, seeded } of tables.toReversed())
    if (seeded) await sql`delete from ${sql.table(name)}`.execute(tx.query)
  const enforceAgain = await deferCircles(tx, tables)
  let counts: RowCounts = {}
  for await (const event of readDump(file, { onProgress: (done, total) => onProgress?.('loading', done, total) })) {
    if (event.kind === 'table') refuseUnknownColumns(file, event.table, tables)
    else if (event.kind === 'rows') await insert(tx, file, event.table, event.rows)
    else if (event.kind === 'end') counts = event.counts
    if (event.kind === 'table' && event.table.identity) await setCounter(tx, event.table.table, event.table.identity)
  }
  await enforceAgain()
  const difference = firstDifference(counts, await countRows(tx, tables))
  if (difference !== undefined) throw damaged(file, difference)
  // By itself PostgreSQL looks at new tables minutes later, and plans badly until then.
  await sql`analyze ${names}`.execute(tx.query)
  await markRestored(tx, clock.now())
  return counts
}

async function insert(tx: Transaction, file: string, { table, columns }: DumpTable, rows: Value[][]): Promise<void> {
  const perStatement = Math.max(1, Math.floor(MOST_PARAMETERS / columns.length))
  for (let start = 0; start < rows.length; start += perStatement) {
    const part = rows.slice(start, start + perStatement)
    try {
      await tx.query.executeQuery(CompiledQuery.raw(insertText(table, columns, part.length), part.flat()))
    } catch (error) {
      throw refused(file, table, error)
    }
  }
}

function insertText(table: string, columns: string[], rows: number): string {
  const tuples = Array.from({ length: rows }, (_, row) => {
    const places = columns.map((_, column) => `$${row * columns.length + column + 1}`)
    return `(${places.join(', ')})`
  })
  const names = columns.map((column) => `"${column}"`).join(', ')
  return `insert into "${table}" (${names}) overriding system value values ${tuples.join(', ')}`
}

/** The next number is above all that were ever given, also of rows that are gone. */
async function setCounter(tx: Transaction, table: string, identity: { column: string; last: number }): Promise<void> {
  if (identity.last < 1) return
  await sql`select setval(pg_get_serial_sequence(${table}, ${identity.column}), ${identity.last})`.execute(tx.query)
}

// PostgreSQL refuses what SQLite takes: a NUL character in text, a number out of range.
function refused(file: string, table: string, error: unknown): unknown {
  if (!/^2[23]/.test((error as { code?: string }).code ?? '')) return error
  return new AppError(
    'failed_precondition',
    `PostgreSQL refuses a row of table ${table} in ${file}: correct the row in the source and make a new backup; ` +
      'nothing was restored',
    { cause: error },
  )
}

async function refuseNonEmpty(db: Reader, tables: CatalogTable[]): Promise<void> {
  for (const { name } of tables.filter(({ seeded }) => !seeded)) {
    const { rows: found } = await sql`select 1 where to_regclass(${name}) is not null`.execute(db.query)
    if (found.length === 0) continue
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db.query)
    if (rows.length > 0) throw notEmpty('The PostgreSQL database', `table ${name} has rows`)
  }
}
