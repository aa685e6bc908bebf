import type { Bell } from '../../platform/clock/bell.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { lastChanges } from './store-changes.ts'

const LOOK_EVERY_MS = 500

interface Waiter {
  readonly projectId: number
  /** What it knows already. */
  readonly after: number
  readonly bell: Bell
}

/**
 * Looks for changes for all who wait. PostgreSQL tells nobody of them, and hundreds who look for themselves would keep it so busy that
 * writers wait for seconds.
 */
export class ChangesWatch {
  readonly #db: Database
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  #isLooking = false

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Rings the bell when the project has a change behind the number, until the answer is called. */
  add(waiter: Waiter): () => void {
    this.#waiting.add(waiter)
    if (!this.#isLooking) this.#lookLater()
    return () => this.#waiting.delete(waiter)
  }

  #lookLater(): void {
    this.#isLooking = true
    this.#clock.after(LOOK_EVERY_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const waiting = [...this.#waiting]
    if (waiting.length === 0) {
      this.#isLooking = false
      return
    }
    const projectIds = new Set(waiting.map(({ projectId }) => projectId))
    // Storage or a project that is away: whoever waits finds that out for itself, and is told.
    const last = await lastChanges(this.#db, [...projectIds]).catch(() => null)
    for (const { projectId, after, bell } of waiting) {
      const seq = last?.get(projectId)
      if (seq === undefined || seq > after) bell.ring()
    }
    this.#lookLater()
  }
}

const watches = new WeakMap<Database, ChangesWatch>()

/** One for all who wait in this process. */
export function watchOf(deps: { db: Database; clock: Clock }): ChangesWatch {
  const watch = watches.get(deps.db) ?? new ChangesWatch(deps)
  watches.set(deps.db, watch)
  return watch
}
