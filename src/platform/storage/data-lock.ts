import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../errors/app-error.ts'
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

function withoutFail(work: () => void): void {
  try {
    work()
  } catch {
    // The disk is full, or was made read-only while the server ran.
  }
}

/** Creates the directory, readable by its owner alone, or says why it cannot be used. */
export function ensureDataDirectory(dataDir: string): void {
  try {
    makeDirectory(dataDir)
    const probe = join(dataDir, `.probe-${process.pid}`)
    closeSync(openSync(probe, 'w'))
    rmSync(probe)
  } catch (error) {
    throw notWritable(dataDir, error)
  }
}

// NOTE Not mkdir's own `recursive`: Node never returns from it where the system refuses with "no such file", as /proc does.
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent)
  mkdirSync(path, { mode: 0o700 })
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
