import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { AppError, isAppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import { ensureDataDirectory } from './data-lock.ts'
import type { Database } from './database.ts'
import { PostgresDatabase } from './postgres.ts'
import { SqliteDatabase } from './sqlite.ts'
import { diskFull, diskTrouble, isOutOfConnections, isTlsTrouble, toStorageError } from './storage-errors.ts'

export interface OpenOptions {
  /** `postgres://…`; a SQLite file in the data directory when absent. */
  databaseUrl?: string | null
  dataDir: string
  poolSize?: number
  clock: Clock
  log: Logger
}

export const SQLITE_FILE = 'commonplace.db'
/** Made from the other one, and made anew whenever it is missing. */
export const SEARCH_FILE = 'search.db'

export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { databaseUrl, dataDir, poolSize = 10, clock, log } = options
  if (databaseUrl) {
    const database = new PostgresDatabase({ url: databaseUrl, poolSize, clock, log })
    try {
      await database.open()
    } catch (error) {
      await database.close().catch(() => {})
      throw cannotOpen(databaseUrl, error)
    }
    return database
  }
  ensureDataDirectory(dataDir)
  const file = join(dataDir, SQLITE_FILE)
  ensureDatabaseFile(file)
  try {
    return new SqliteDatabase(file, clock, log)
  } catch (error) {
    throw toStorageError(error)
  }
}

/** Password hashes are in it: for its owner alone, also in a directory that existed before with wider rights. */
function ensureDatabaseFile(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (cause) {
    if (diskTrouble(cause) === 'full') throw diskFull(cause)
    throw new AppError(
      'failed_precondition',
      `The database file ${file} cannot be opened (${(cause as NodeJS.ErrnoException).code}): ` +
        'correct its owner and permissions, or run this as the user whom it belongs to',
      { cause },
    )
  }
}

/** At start there is nobody to repeat a request: say which server, and what to look at. */
function cannotOpen(databaseUrl: string, error: unknown): unknown {
  if (isAppError(error, 'failed_precondition')) return error
  const { host, pathname } = new URL(databaseUrl)
  const cause = isAppError(error) && error.cause !== undefined ? error.cause : error
  const name = `${pathname.slice(1)} on ${host || 'the local socket'}`
  return new AppError('unavailable', `The PostgreSQL database ${name} cannot be used: ${adviceFor(cause)}`, { cause })
}

function adviceFor(cause: unknown): string {
  if (isTlsTrouble(cause))
    return 'check sslmode and sslrootcert in storage.database_url (COMMONPLACE_DATABASE_URL), and the certificate of the server'
  if (isOutOfConnections(cause))
    return 'allow more connections (max_connections, or the limit of the role or database), or lower storage.pool_size'
  return 'check that the server runs, that the database exists, and the user and password in storage.database_url (COMMONPLACE_DATABASE_URL)'
}
