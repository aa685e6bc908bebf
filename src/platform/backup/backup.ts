import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Database } from '../storage/database.ts'
import { schemaVersion } from '../storage/migrate.ts'
import { MIGRATIONS, type Migration } from '../storage/migrations/index.ts'
import { SqliteDatabase } from '../storage/sqlite.ts'
import type { RowCounts } from './count-rows.ts'
import { readDump } from './dump-reader.ts'
import { writeDump } from './dump-writer.ts'
import { placeFile } from './place-file.ts'
import { copySqlite } from './sqlite-snapshot.ts'

/** `sqlite`: the database file itself; `dump`: portable between the engines. */
export type BackupFormat = 'sqlite' | 'dump'

export interface BackupOptions {
  db: Database
  file: string
  clock: Clock
  /** The database file for SQLite, a dump for PostgreSQL, unless said otherwise. */
  format?: BackupFormat
  /** Replace a file of that name. */
  force?: boolean
  onProgress?: BackupProgress
  /** The list of this version unless a test brings its own. */
  migrations?: readonly Migration[]
}

export type BackupProgress = (step: 'copying' | 'verifying', done: number, total: number) => void

export interface BackupResult {
  file: string
  format: BackupFormat
  bytes: number
  /** Version of the schema in it. */
  schema: number
  rows: RowCounts
}

/** Writes one state of the whole database to a file while others go on writing, and reads the file back before it counts. */
export async function createBackup(options: BackupOptions): Promise<BackupResult> {
  const { db, file, migrations = MIGRATIONS } = options
  const { version } = await schemaVersion(db, migrations)
  if (version === 0) {
    throw new AppError(
      'failed_precondition',
      'There is nothing to back up: the database has no tables yet; check the settings',
    )
  }
  if (db instanceof SqliteDatabase) refuseItself(db.file, file)
  const format = options.format ?? (db.engine === 'sqlite' ? 'sqlite' : 'dump')
  const present = migrations.slice(0, version)
  const rows = await placeFile(file, { force: options.force ?? false }, (temporary) =>
    format === 'dump' ? dump(options, temporary, present) : copy(options, temporary, present),
  )
  return { file, format, bytes: statSync(file).size, schema: version, rows }
}

/** In the place of the database it would take away what a running server writes from then on. */
function refuseItself(database: string, file: string): void {
  const real = realpathSync(database)
  const own = ['', '-wal', '-shm', '-journal'].map((end) => real + end)
  if (!own.some((path) => isSameFile(path, file))) return
  throw new AppError('failed_precondition', `${file} belongs to the database itself: choose another name`)
}

/** Also by another path: through a link, or in another case where that does not matter. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }))
  if (first === undefined || second === undefined) return resolve(one) === resolve(other)
  return first.dev === second.dev && first.ino === second.ino
}

async function dump(
  { db, clock, onProgress }: BackupOptions,
  file: string,
  migrations: readonly Migration[],
): Promise<RowCounts> {
  const rows = await writeDump(db, file, {
    clock,
    migrations,
    onProgress: (done, total) => onProgress?.('copying', done, total),
  })
  for await (const _ of readDump(file, { onProgress: (done, total) => onProgress?.('verifying', done, total) }));
  return rows
}

async function copy(
  { db, onProgress }: BackupOptions,
  file: string,
  migrations: readonly Migration[],
): Promise<RowCounts> {
  if (!(db instanceof SqliteDatabase)) {
    throw new AppError(
      'invalid_argument',
      'PostgreSQL is backed up as a dump: leave --format out, or use --format dump',
    )
  }
  return copySqlite(db.file, file, { migrations, onProgress: (done, total) => onProgress?.('copying', done, total) })
}
