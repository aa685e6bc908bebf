import { closeSync, openSync, readSync } from 'node:fs'
import { AppError } from '../errors/app-error.ts'
import { lockDataDirectory } from '../storage/data-lock.ts'
import { MIGRATIONS } from '../storage/migrations/index.ts'
import { openDatabase } from '../storage/open.ts'
import type { BackupFormat } from './backup.ts'
import { fileTrouble, notABackup } from './backup-errors.ts'
import { type CatalogTable, catalogOf } from './catalog.ts'
import type { DumpHeader } from './dump-format.ts'
import { readDump } from './dump-reader.ts'
import { refuseUnknownColumns } from './known-columns.ts'
import { loadIntoPostgres } from './load-postgres.ts'
import { migrationsOf } from './migrations-of.ts'
import type { RestoreOptions, RestoreResult } from './restore-options.ts'
import { restoreSqlite } from './restore-sqlite.ts'
import { checkSqliteBackup } from './sqlite-backup-file.ts'

/**
 * Fills an empty database from a backup. Either all of it is there afterwards, or the target is as empty as before.
 * The data directory is locked meanwhile, so that no server starts on half of it.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const format = formatOf(options.file)
  const lock = lockDataDirectory(options.dataDir)
  try {
    if (!options.databaseUrl) return await restoreSqlite(options, format)
    if (format === 'sqlite') {
      throw new AppError(
        'failed_precondition',
        `The backup ${options.file} is a SQLite file and cannot go into PostgreSQL: restore it into a data directory ` +
          'without a database_url, then make a portable one with "commonplace backup --format dump"',
      )
    }
    return await restorePostgres(options)
  } finally {
    lock.release()
  }
}

/** Reads the whole backup and says what is in it, without a target. */
export async function checkBackup(
  options: Pick<RestoreOptions, 'file' | 'onProgress' | 'migrations'>,
): Promise<RestoreResult> {
  const { file, onProgress, migrations = MIGRATIONS } = options
  const format = formatOf(file)
  if (format === 'sqlite') return { format, ...(await checkSqliteBackup(file, migrations)) }
  let header: DumpHeader | undefined
  let tables: CatalogTable[] = []
  for await (const event of readDump(file, { onProgress: (done, total) => onProgress?.('verifying', done, total) })) {
    if (event.kind === 'header') {
      header = event.header
      tables = await catalogOf(migrationsOf(file, header, migrations))
    }
    if (event.kind === 'table') refuseUnknownColumns(file, event.table, tables)
    if (event.kind === 'end') return { format, schema: header?.schema ?? 0, rows: event.counts }
  }
  throw notABackup(file)
}

async function restorePostgres(options: RestoreOptions): Promise<RestoreResult> {
  const { databaseUrl, dataDir, clock, log } = options
  await using db = await openDatabase({ databaseUrl, dataDir, poolSize: 2, clock, log })
  return { format: 'dump', ...(await loadIntoPostgres(db, options)) }
}

/** By its first bytes; a name may say anything. */
function formatOf(file: string): BackupFormat {
  const start = Buffer.alloc(16)
  try {
    const descriptor = openSync(file, 'r')
    try {
      readSync(descriptor, start)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw fileTrouble(file, 'read', error)
  }
  if (start.toString('latin1') === 'SQLite format 3\0') return 'sqlite'
  if (start[0] === 0x1f && start[1] === 0x8b) return 'dump'
  throw notABackup(file)
}
