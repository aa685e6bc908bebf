import type { Principal, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import { insertLogIns } from './store-log-ins.ts'
import { type Day, dayOf } from './weeks.ts'

// One commit should not hold up the others that share the writer.
const PER_COMMIT = 500
// Whoever does not fit is written again at the next request, which changes nothing.
const MOST_KNOWN = 100_000

/**
 * Writes down on which days users proved who they are: one row for each user and day, off the path of the request. Who
 * has a row of this day already is known by heart, so that a request costs one look-up in memory. A crash loses rows
 * that the next request of the user makes up for.
 */
export class LogInRecorder {
  readonly #db: Database
  readonly #log: Logger
  #day: Day = 0
  #known = new Set<UserId>()
  readonly #pending = new Map<string, { day: Day; user_id: UserId }>()
  #writing: Promise<void> | undefined

  constructor({ db, log }: { db: Database; log: Logger }) {
    this.#db = db
    this.#log = log
  }

  /** Whoever was let in by credentials of a user. The person at the machine itself, in `dev`, proved nothing. */
  record({ kind, userId, method }: Pick<Principal, 'kind' | 'userId' | 'method'>, now: Micros): void {
    if (kind === 'user' && userId !== null && method !== 'dev') this.recordUser(userId, now)
  }

  /** A user, and no service account. */
  recordUser(userId: UserId, now: Micros): void {
    const day = dayOf(now)
    if (day !== this.#day || this.#known.size >= MOST_KNOWN) {
      this.#day = day
      this.#known = new Set()
    }
    if (this.#known.has(userId)) return
    this.#known.add(userId)
    this.#pending.set(`${day} ${userId}`, { day, user_id: userId })
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Until what was recorded so far is stored, or could not be. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      // In one order everywhere: two processes that write the same rows must not wait for each other.
      const some = [...this.#pending].slice(0, PER_COMMIT).sort(([a], [b]) => (a < b ? -1 : 1))
      const rows = some.map(([, row]) => row)
      for (const [key] of some) this.#pending.delete(key)
      try {
        await this.#db.write((tx) => insertLogIns(tx, rows), { isolation: 'read committed' })
      } catch (error) {
        for (const row of rows) this.#known.delete(row.user_id)
        this.#log.warn({ err: error }, 'log-ins could not be written; they are at the next request of the users')
      }
    }
  }
}
