import type { Clock } from '../../platform/clock/clock.ts'
import { isAppError } from '../../platform/errors/app-error.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import { inTurn } from './in-turn.ts'

export interface SharedChange<T, Context> {
  /** Inside a transaction that is begun for some together. It may run more than once. */
  together(tx: Transaction, context: Context): Promise<T>
  /** In a transaction of its own. */
  alone(): Promise<T>
}

export interface SharedTurnsOptions<Context> {
  db: Database
  clock: Clock
  /** Those of one key take turns. */
  key: string
  /** What a transaction for some together begins with. */
  begin(tx: Transaction): Promise<Context>
}

interface Waiting<Context> {
  change: SharedChange<unknown, Context>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

// A transaction ends when it is this old or has so many changes, so that the first does not wait for the last.
const TOGETHER_MS = 25
const MOST_TOGETHER = 64
// After one that failed so many are made alone: who fails on purpose makes nobody begin again and again.
const ALONE_AFTER_FAILURE = 16

/**
 * Changes that have to be made one after the other, on PostgreSQL. Those that wait when their turn comes share a transaction: what
 * it costs to begin one, and to wait until it is on disk, they pay once. When one of them fails, nothing has happened, and each is
 * made alone; so a failure is told to nobody but who caused it.
 */
export class SharedTurns<Context> {
  readonly #options: SharedTurnsOptions<Context>
  // NOTE There are always as many turns to come as changes that wait: each turn settles one at least, or finds none.
  readonly #waiting: Waiting<Context>[] = []
  #aloneLeft = 0

  constructor(options: SharedTurnsOptions<Context>) {
    this.#options = options
  }

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  make<T>(change: SharedChange<T, Context>): Promise<T> {
    const { db, key } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ change, resolve: resolve as Waiting<Context>['resolve'], reject })
    void inTurn(db, key, () => this.#takeTurn())
    return promise
  }

  async #takeTurn(): Promise<void> {
    const isShared = this.#aloneLeft === 0 && this.#waiting.length > 1
    if (isShared && (await this.#makeTogether())) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#aloneLeft = Math.max(0, this.#aloneLeft - 1)
    await next.change.alone().then(next.resolve, (error: unknown) => {
      // Each would wait for storage as long as this one did, one after the other: they do so together.
      if (isAppError(error, 'unavailable')) this.#aloneLeft = 0
      next.reject(error)
    })
  }

  /** False when one of them failed: all of them wait again, and nothing has happened. */
  async #makeTogether(): Promise<boolean> {
    const { db } = this.#options
    const some = this.#waiting.splice(0, MOST_TOGETHER)
    let isRefused = false
    const onRefused = () => {
      isRefused = true
    }
    const make = (tx: Transaction) => {
      // The database may have asked for it again since one was refused.
      isRefused = false
      return this.#makeSome(tx, some, onRefused)
    }
    try {
      const values = await db.write(make, { isolation: 'read committed' })
      this.#waiting.unshift(...some.slice(values.length))
      for (const [at, value] of values.entries()) some[at]?.resolve(value)
      return true
    } catch (error) {
      // NOTE Whether a commit whose answer was lost took place nobody knows: it must not be made again.
      if (!isRefused && isStorageAway(error)) {
        for (const { reject } of some) reject(error)
        return true
      }
      this.#aloneLeft = ALONE_AFTER_FAILURE
      this.#waiting.unshift(...some)
      return false
    }
  }

  /** As many as the time allows; what came of them. */
  async #makeSome(tx: Transaction, some: readonly Waiting<Context>[], onRefused: () => void): Promise<unknown[]> {
    const { clock, begin } = this.#options
    try {
      const context = await begin(tx)
      const endAt = clock.elapsedMs() + TOGETHER_MS
      const values: unknown[] = []
      for (const { change } of some) {
        values.push(await change.together(tx, context))
        if (clock.elapsedMs() >= endAt) break
      }
      return values
    } catch (error) {
      if (isAppError(error)) onRefused()
      throw error
    }
  }
}
