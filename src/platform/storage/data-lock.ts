import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../errors/app-error.ts'
import { makeDataDirectory } from './make-directory.ts'
import { diskTrouble, isSqliteBusy } from './storage-errors.ts'

export interface DataLock {
  release(): void
}

/**
 * Holds the data directory for one server process. The lock is an exclusive SQLite transaction on a file of its own:
 * the operating system drops it when the process ends, however it ends, so no stale lock has to be cleaned up.
 */
export function lockDataDirectory(dataDir: string): DataLock {
  ensureDataDirectory(dataDir)
  const file = join(dataDir, 'commonplace.lock')
  const pidFile = join(dataDir, 'commonplace.pid')
  let db: DatabaseSync | undefined
  try {
    requireWritable(file)
    keepFromOthers(file)
    db = new DatabaseSync(file, { timeout: 0 })
    db.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    db?.close()
    if (!isSqliteBusy(error)) throw notWritable(dataDir, error)
    throw new AppError(
      'failed_precondition',
      `Another Commonplace server${holder(pidFile)} already uses the data directory ${dataDir}: ` +
        'stop it, or choose another directory with COMMONPLACE_DATA_DIR',
      { cause: error },
    )
  }
  // For whoever is refused; the lock holds without it.
  withoutFail(() => writeFileSync(pidFile, `${process.pid}\n`))
  const held = db
  return {
    release() {
      withoutFail(() => rmSync(pidFile, { force: true }))
      held.close()
    },
  }
}

/**
 * SQLite opens a file that it may only read, and calls a lock exclusive then that keeps nobody out.
 * NOTE Asked without opening it: closing a file lets go of all locks that this process has on it.
 */
function requireWritable(file: string): void {
  if (existsSync(file)) accessSync(file, constants.W_OK)
}

/**
 * Whoever may read the file can lock it as well, and no server starts then: anybody on the machine, where the directory existed before
 * with wider rights.
 */
function keepFromOthers(file: string): void {
  if (existsSync(file)) withoutFail(() => chmodSync(file, 0o600))
  else closeSync(openSync(file, 'a', 0o600))
}

function withoutFail(work: () => void): void {
  try {
    work()
  } catch {
    // The disk is full, was made read-only while the server ran, or the file belongs to somebody else.
  }
}

/** Creates the directory, readable by its owner alone, or says why it cannot be used. */
export function ensureDataDirectory(dataDir: string): void {
  try {
    makeDataDirectory(dataDir)
    const probe = join(dataDir, `.probe-${process.pid}`)
    closeSync(openSync(probe, 'w'))
    // Another container may have a process of the same number.
    rmSync(probe, { force: true })
  } catch (error) {
    throw notWritable(dataDir, error)
  }
}

function notWritable(dataDir: string, cause: unknown): AppError {
  const isFull = diskTrouble(cause) === 'full'
  const reason = isFull ? 'its disk is full' : (cause as Error).message
  const advice = isFull ? 'free some space' : 'correct its owner, permissions or disk'
  return new AppError(
    'failed_precondition',
    `The data directory ${dataDir} cannot be written (${reason}): ${advice}, or choose another with COMMONPLACE_DATA_DIR`,
    { cause },
  )
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`
  } catch {
    return ''
  }
}
