import { join } from 'node:path'
import type { Command } from 'commander'
import { type Clock, holdProcess, SystemClock } from '../platform/clock/clock.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { createLogger, type Logger } from '../platform/logging/logger.ts'
import type { Database } from '../platform/storage/database.ts'
import { databaseTime } from '../platform/storage/database-time.ts'
import { schemaVersion } from '../platform/storage/migrate.ts'
import { openDatabase, SQLITE_FILE } from '../platform/storage/open.ts'
import { loadSettings, type Settings } from '../settings.ts'
import { fileState } from './file-state.ts'
import { flagsOf } from './settings-options.ts'

export interface CliContext {
  db: Database
  settings: Settings
  clock: Clock
  log: Logger
}

export interface CliDatabaseOptions {
  /** Whether the command needs the tables of this version; `migrate` and `doctor` do not. */
  requireSchema?: boolean
  /** Whether it may make the database where there is none; a mistyped directory must stay as it is. */
  mayCreate?: boolean
  /** What follows from one that is not there: `nothing to back up`. */
  withoutIt?: string
}

/** Opens storage for one command, beside a running server if there is one, and closes it whatever happens. */
export async function withDatabase<T>(
  command: Command,
  work: (context: CliContext) => Promise<T>,
  options: CliDatabaseOptions = {},
): Promise<T> {
  // What a command waits for may be a timer or a thread, which would let the process end in the middle of it.
  const letGo = holdProcess()
  try {
    return await inDatabase(command, work, options)
  } finally {
    letGo()
  }
}

async function inDatabase<T>(
  command: Command,
  work: (context: CliContext) => Promise<T>,
  options: CliDatabaseOptions,
): Promise<T> {
  const { settings } = await loadSettings({ mode: 'cli', ...flagsOf(command) })
  if (options.mayCreate !== true) requireDatabase(settings.storage, options.withoutIt)
  const clock = new SystemClock()
  // Standard output belongs to the command's answer; what the platform has to say goes to standard error.
  const log = createLogger({ level: 'warn', format: 'readable', destination: process.stderr })
  await using db = await openDatabase({
    databaseUrl: settings.storage.database_url,
    dataDir: settings.storage.data_dir,
    poolSize: 2,
    clock,
    log,
  })
  await databaseTime(db, clock, log)?.begin()
  if (options.requireSchema !== false) await requireCurrentSchema(db)
  return await work({ db, settings, clock, log })
}

function requireDatabase(
  { data_dir: dataDir, database_url: databaseUrl }: Settings['storage'],
  withoutIt?: string,
): void {
  if (databaseUrl !== null || fileState(join(dataDir, SQLITE_FILE)) !== 'missing') return
  const consequence = withoutIt === undefined ? '' : `, so there is ${withoutIt}`
  throw new AppError(
    'failed_precondition',
    `There is no database in ${dataDir}${consequence}: correct --data-dir (COMMONPLACE_DATA_DIR), or start the server once, which makes one`,
  )
}

async function requireCurrentSchema(db: Database): Promise<void> {
  const { version, pending } = await schemaVersion(db)
  if (pending.length === 0) return
  throw new AppError(
    'failed_precondition',
    version === 0
      ? 'The database is empty: start the server once ("commonplace serve"), which prepares it'
      : 'The database has the schema of an older version: run "commonplace migrate" or start the server once',
  )
}
