import type { Clock } from '../clock/clock.ts'
import type { Database } from './database.ts'
import { SqliteDatabase } from './sqlite.ts'

// Some microseconds of work, so that a server that has nothing to do needs no CPU worth mentioning.
const LOOK_EVERY_MS = 2_000

/** Notices what other processes change in an SQLite file: a command beside the server tells nobody. On PostgreSQL it notices nothing. */
export class OtherProcesses {
  readonly #db: Database
  readonly #clock: Clock
  #seen: number | null

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#seen = versionOf(db)
  }

  /** Calls back soon after each change, and after those that came while nobody watched; the answer ends that. */
  watch(onChange: () => void): () => void {
    if (this.#db.engine !== 'sqlite') return () => {}
    const look = () => {
      cancel = this.#clock.after(LOOK_EVERY_MS, look)
      const version = versionOf(this.#db)
      // Also when it could not be asked: then it is not known what was missed.
      const isAnother = version !== this.#seen
      this.#seen = version
      if (isAnother) onChange()
    }
    let cancel = this.#clock.after(LOOK_EVERY_MS, look)
    return () => cancel()
  }
}

function versionOf(db: Database): number | null {
  try {
    return db instanceof SqliteDatabase ? db.foreignVersion() : null
  } catch {
    return null
  }
}
