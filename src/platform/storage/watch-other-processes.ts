import type { Clock } from '../clock/clock.ts'
import type { Database } from './database.ts'
import { SqliteDatabase } from './sqlite.ts'

// Some microseconds of work, so that a server that has nothing to do needs no CPU worth mentioning.
const LOOK_EVERY_MS = 2_000

/**
 * Calls back soon after another process has changed the SQLite file, for a command beside the server tells nobody; the answer ends
 * that. On PostgreSQL it never does.
 */
export function watchOtherProcesses(db: Database, clock: Clock, onChange: () => void): () => void {
  if (!(db instanceof SqliteDatabase)) return () => {}
  let seen = versionOf(db)
  const look = () => {
    const version = versionOf(db)
    // Also when it could not be asked: then it is not known what was missed.
    if (version !== seen) onChange()
    seen = version
    cancel = clock.after(LOOK_EVERY_MS, look)
  }
  let cancel = clock.after(LOOK_EVERY_MS, look)
  return () => cancel()
}

function versionOf(db: SqliteDatabase): number | null {
  try {
    return db.foreignVersion()
  } catch {
    return null
  }
}
