import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import { indexUsers } from './store-user-search.ts'

// Some ten milliseconds of work, and often enough that a search looks at few users one by one.
const STEP = 2_000

/**
 * Tells SQLite's search index of new users, many at a time: one by one would cost as much as all the rest of making a
 * user. Until then a search looks at them itself, so nothing depends on when this runs. PostgreSQL needs none of it.
 */
export class SearchIndexer {
  readonly #db: Database
  readonly #log: Logger
  #waiting = 0
  #running: Promise<void> | undefined

  constructor({ db, log }: { db: Database; log: Logger }) {
    this.#db = db
    this.#log = log
  }

  /** After each new user. */
  added(): void {
    if (++this.#waiting >= STEP) void this.run()
  }

  /** Settles when all are in the index; never fails, for there is a next time. */
  run(): Promise<void> {
    if (this.#db.engine !== 'sqlite') return Promise.resolve()
    this.#waiting = 0
    this.#running ??= this.#indexAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #indexAll(): Promise<void> {
    try {
      while (!(await this.#db.write((tx) => indexUsers(tx, STEP), { alone: true })));
    } catch (error) {
      this.#log.debug({ err: error }, 'new users were not added to the search index')
    }
  }
}
