import type { Micros } from '../clock/clock.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import type { Bucket } from './bucket.ts'
import { MemoryWindows } from './memory-windows.ts'
import { purgeWindows, readWindow, spendWindow } from './store.ts'

/**
 * Counters that all processes on one PostgreSQL share: one atomic statement per request. What this process has
 * seen is kept beside it, so that a caller who is over the limit costs no query until the window ends.
 */
export class SharedWindows {
  readonly #db: Database
  readonly #log: Logger
  readonly #seen = new MemoryWindows()
  readonly #purgedAt = new Map<string, Micros>()

  constructor(db: Database, log: Logger) {
    this.#db = db
    this.#log = log
  }

  /** The last count this process saw; the true one is never lower. */
  seen(bucket: Bucket, start: Micros, subject: string): number {
    return this.#seen.used(bucket, start, subject)
  }

  /** Counts `cost` if it fits. `used` is the count after it, or the one that left no room. */
  async spend(bucket: Bucket, start: Micros, subject: string, cost: number): Promise<{ fits: boolean; used: number }> {
    this.#purgeBefore(bucket, start)
    const key = { bucket: bucket.name, subject, windowStart: start }
    const [row] = await this.#db.run(spendWindow, { ...key, cost, limit: bucket.limit })
    const used = row?.used ?? (cost === 1 ? bucket.limit : ((await this.#db.run(readWindow, key))[0]?.used ?? 0))
    this.#seen.set(bucket, start, subject, Math.max(used, this.seen(bucket, start, subject)))
    return { fits: row !== undefined, used }
  }

  // The first request of a window sweeps the ones before it; no timer, and an idle bucket holds nothing worth sweeping.
  #purgeBefore(bucket: Bucket, start: Micros): void {
    if (this.#purgedAt.get(bucket.name) === start) return
    this.#purgedAt.set(bucket.name, start)
    const purge = this.#db.run(purgeWindows, { bucket: bucket.name, before: start })
    ignoreFailure(purge, 'the next window sweeps old rate windows as well', this.#log)
  }
}
