import type { Clock, Micros } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { recordUse, type UsedCredential } from './store.ts'

export interface UsageRecorderOptions {
  db: Database
  clock: Clock
  log: Logger
  everyMs: number
}

// One commit should not hold up the others that share the writer.
const PER_COMMIT = 200
// What does not fit is simply not recorded: a time of last use is information, not a right.
const MAX_PENDING = 20_000

/**
 * Writes down when a credential was last used: off the path of the request, all that were used in one go, and each
 * at most once per interval. A crash loses the last interval.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions
  readonly #pending = new Map<string, { table: UsedCredential; at: Micros }>()
  // What the last flush wrote: a row that was read just before the flush does not show it yet.
  #written = new Map<string, Micros>()
  #cancelTimer: (() => void) | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(options: UsageRecorderOptions) {
    this.#options = options
  }

  record(table: UsedCredential, id: string, at: Micros): void {
    const known = this.#pending.get(id)
    if (known !== undefined) known.at = at
    else if (this.#pending.size < MAX_PENDING) this.#pending.set(id, { table, at })
    this.#cancelTimer ??= this.#options.clock.after(this.#options.everyMs, () => {
      this.#cancelTimer = undefined
      this.#flushing = this.flush()
    })
  }

  /** The last use that the database may not show yet. */
  lastUse(id: string): Micros | undefined {
    return this.#pending.get(id)?.at ?? this.#written.get(id)
  }

  async flush(): Promise<void> {
    const { db, log } = this.#options
    const uses = [...this.#pending].sort(([a], [b]) => (a < b ? -1 : 1))
    const flushed = new Map<string, Micros>()
    try {
      for (let start = 0; start < uses.length; start += PER_COMMIT) {
        const some = uses.slice(start, start + PER_COMMIT)
        const written = some.map(([id, use]) => ({ id, table: use.table, at: use.at }))
        await db.write(
          async (tx) => {
            for (const { table, id, at } of written) await recordUse(tx, table, id, at)
          },
          { isolation: 'read committed' },
        )
        for (const { id, at } of written) {
          flushed.set(id, at)
          this.#written.set(id, at)
          if (this.#pending.get(id)?.at === at) this.#pending.delete(id)
        }
      }
    } catch (error) {
      // Whoever is still pending is tried again after the next use.
      log.warn({ err: error }, 'the times of last use could not be written')
    } finally {
      this.#written = flushed
    }
  }

  async close(): Promise<void> {
    this.#cancelTimer?.()
    await this.#flushing
    await this.flush()
  }
}
