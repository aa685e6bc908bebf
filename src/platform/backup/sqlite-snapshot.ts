import { closeSync, openSync } from 'node:fs'
import { backup } from 'node:sqlite'
import { AppError } from '../errors/app-error.ts'
import type { Migration } from '../storage/migrations/index.ts'
import { SqliteConnection } from '../storage/sqlite-connection.ts'
import { toStorageError } from '../storage/storage-errors.ts'
import { type CatalogTable, catalogOf } from './catalog.ts'
import { firstDifference, type RowCounts } from './count-rows.ts'

const PAGES_PER_STEP = 1_000

export interface SnapshotOptions {
  migrations: readonly Migration[]
  /** In pages. */
  onProgress?: (done: number, total: number) => void
}

/** Copies a SQLite database that may be in use into one file, then compares the copy with what was copied. */
export async function copySqlite(source: string, target: string, options: SnapshotOptions): Promise<RowCounts> {
  const tables = await catalogOf(options.migrations)
  closeSync(openSync(target, 'wx', 0o600))
  const connection = new SqliteConnection(source, { readOnly: true })
  try {
    // NOTE The read transaction holds one state for the whole copy. Without it every write of the server makes SQLite
    // begin the copy anew, and on a busy server it would never end.
    connection.execute('begin', [])
    const expected = countSource(connection, tables)
    await backup(connection.handle, target, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => options.onProgress?.(totalPages - remainingPages, totalPages),
    })
    const difference = firstDifference(expected, verifySqlite(target, tables))
    if (difference !== undefined) throw copyFailed(difference)
    return expected
  } finally {
    connection.close()
  }
}

/** Throws unless SQLite finds the file whole; answers what it holds. Leaves one file, without a write-ahead log. */
export function verifySqlite(
  file: string,
  tables: readonly CatalogTable[],
  problem: (what: string) => Error = copyFailed,
): RowCounts {
  const copy = new SqliteConnection(file, { readOnly: false })
  try {
    copy.execute('pragma journal_mode = delete', [])
    const [answer] = copy.rows('pragma integrity_check(1)', []) as { integrity_check: string }[]
    if (answer?.integrity_check !== 'ok') throw problem(answer?.integrity_check ?? 'SQLite cannot check it')
    return countTables(copy, tables)
  } finally {
    copy.close()
  }
}

/** Brings what is still in the write-ahead log into the file itself, so that the file alone may be moved. */
export function foldLog(file: string): void {
  const connection = new SqliteConnection(file, { readOnly: false })
  try {
    connection.execute('pragma journal_mode = delete', [])
  } finally {
    connection.close()
  }
}

export function checkReferences(connection: SqliteConnection, problem: (what: string) => Error): void {
  const [broken] = connection.rows('pragma foreign_key_check', []) as { table: string; parent: string }[]
  if (broken !== undefined)
    throw problem(`a row of table ${broken.table} refers to a row of ${broken.parent} that is missing`)
}

/** What is wrong here is wrong with the database, not with the file that is written. */
function countSource(connection: SqliteConnection, tables: readonly CatalogTable[]): RowCounts {
  try {
    return countTables(connection, tables)
  } catch (error) {
    throw toStorageError(error)
  }
}

function countTables(connection: SqliteConnection, tables: readonly CatalogTable[]): RowCounts {
  const counts = tables.map(({ name }): [string, number] => {
    const [row] = connection.rows(`select count(*) as count from "${name}"`, []) as { count: number }[]
    return [name, row?.count ?? 0]
  })
  return Object.fromEntries(counts)
}

function copyFailed(what: string): AppError {
  return new AppError(
    'failed_precondition',
    `The copy of the database is not whole (${what}): run "commonplace doctor --full"`,
  )
}
