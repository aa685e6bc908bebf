import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { AppError, isAppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import { ensureDataDirectory } from './data-lock.ts'
import type { Database } from './database.ts'
import { PostgresDatabase } from './postgres.ts'
import { SqliteDatabase } from './sqlite.ts'
import { isTlsTrouble, toStorageError } from './storage-errors.ts'

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
  try {
    const file = join(dataDir, SQLITE_FILE)
    // Password hashes are in it: for its owner alone, also in a directory that existed before with wider rights.
    closeSync(openSync(file, 'a', 0o600))
    return new SqliteDatabase(file, clock, log)
  } catch (error) {
    throw toStorageError(error)
  }
}

/** At start there is nobody to repeat a request: say which server, and what to look at. */
function cannotOpen(databaseUrl: string, error: unknown): unknown {
  if (isAppError(error, 'failed_precondition')) return error
  const { host, pathname } = new URL(databaseUrl)
  const cause = isAppError(error) && error.cause !== undefined ? error.cause : error
  const advice = isTlsTrouble(cause)
    ? 'check sslmode and sslrootcert in storage.database_url (COMMONPLACE_DATABASE_URL), and the certificate of the server'
    : 'check that the server runs, that the database exists, and the user and password in storage.database_url (COMMONPLACE_DATABASE_URL)'
  const name = `${pathname.slice(1)} on ${host || 'the local socket'}`
  return new AppError('unavailable', `The PostgreSQL database ${name} cannot be used: ${advice}`, { cause })
}
