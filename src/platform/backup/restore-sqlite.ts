import { lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Transaction } from '../storage/database.ts'
import { migrate } from '../storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../storage/migrations/index.ts'
import { openDatabase, SEARCH_FILE, SQLITE_FILE } from '../storage/open.ts'
import { SqliteConnection } from '../storage/sqlite-connection.ts'
import type { BackupFormat } from './backup.ts'
import { fileTrouble, notEmpty } from './backup-errors.ts'
import { catalogOf } from './catalog.ts'
import type { RowCounts } from './count-rows.ts'
import { readDumpHeader } from './dump-reader.ts'
import { markRestored } from './last-restore.ts'
import { loadIntoSqlite } from './load-sqlite.ts'
import { migrationsOf } from './migrations-of.ts'
import { flushDirectory, flushFile, removeOnInterrupt } from './place-file.ts'
import type { RestoreOptions, RestoreResult } from './restore-options.ts'
import { takeSqliteBackup } from './sqlite-backup-file.ts'
import { foldLog } from './sqlite-snapshot.ts'

// Beside the database, because a rename must not cross disks. Whoever holds the lock may clear it away.
const WORKSHOP = '.restoring'
// As the system allows; who writes to a link that leads to itself is told so.
const MOST_LINKS = 40

/** Builds the database under another name and puts it in place when it is complete, verified and on disk. */
export async function restoreSqlite(options: RestoreOptions, format: BackupFormat): Promise<RestoreResult> {
  const { dataDir, onProgress, migrations: known = MIGRATIONS } = options
  const target = behindLinks(join(dataDir, SQLITE_FILE))
  await refuseNonEmpty(target, known)
  const workshop = join(dirname(target), WORKSHOP)
  rmSync(workshop, { recursive: true, force: true })
  mkdirSync(workshop, { mode: 0o700 })
  const cleanUp = removeOnInterrupt([workshop])
  try {
    const contents = await build(options, format, workshop, known)
    onProgress?.('upgrading', 0, 0)
    await migrateIn(workshop, options, known, (tx) => markRestored(tx, options.clock.now()))
    const built = join(workshop, SQLITE_FILE)
    foldLog(built)
    flushFile(built)
    // NOTE The old log must go before the new file comes: SQLite would apply it to whatever has the name.
    for (const old of [`${target}-wal`, `${target}-shm`, target]) rmSync(old, { force: true })
    // Of what was here before; the server makes a new one.
    for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `${SEARCH_FILE}${end}`), { force: true })
    renameSync(built, target)
    flushDirectory(dirname(target))
    return { format, ...contents }
  } catch (error) {
    throw fileTrouble(target, 'written', error)
  } finally {
    cleanUp()
  }
}

/** The database may be a link to another disk, on which there may be nothing yet. */
function behindLinks(file: string): string {
  let place = file
  for (let links = 0; links < MOST_LINKS && lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    place = resolve(dirname(place), readlinkSync(place))
  }
  return place
}

async function build(
  options: RestoreOptions,
  format: BackupFormat,
  workshop: string,
  known: readonly Migration[],
): Promise<{ schema: number; rows: RowCounts }> {
  const { file, onProgress } = options
  const target = join(workshop, SQLITE_FILE)
  if (format === 'sqlite') {
    onProgress?.('verifying', 0, 0)
    return takeSqliteBackup(file, target, known)
  }
  const migrations = migrationsOf(file, await readDumpHeader(file), known)
  await migrateIn(workshop, options, migrations)
  const rows = await loadIntoSqlite(target, {
    file,
    migrations,
    onProgress: (done, total) => onProgress?.('loading', done, total),
  })
  return { schema: migrations.length, rows }
}

async function migrateIn(
  dataDir: string,
  { clock, log }: RestoreOptions,
  migrations: readonly Migration[],
  then?: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await using db = await openDatabase({ dataDir, clock, log })
  await migrate(db, { clock, log, migrations })
  if (then !== undefined) await db.write(then)
}

async function refuseNonEmpty(target: string, known: readonly Migration[]): Promise<void> {
  if ((statSync(target, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const seeded = new Set((await catalogOf(known)).filter((table) => table.seeded).map(({ name }) => name))
  let connection: SqliteConnection | undefined
  try {
    connection = new SqliteConnection(target, { readOnly: false })
    const tables = connection.rows(`select name from pragma_table_list where schema = 'main' and type = 'table'`, [])
    for (const { name } of tables as { name: string }[]) {
      if (name === 'schema_migrations' || name === 'rate_windows' || name.startsWith('sqlite_') || seeded.has(name))
        continue
      const [row] = connection.rows(`select 1 from "${name.replaceAll('"', '""')}" limit 1`, [])
      if (row !== undefined) throw notEmpty(target, `table ${name} has rows`)
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SQLITE_ERROR') throw error
    throw notEmpty(target, `it cannot be read: ${(error as Error).message}`)
  } finally {
    connection?.close()
  }
}
