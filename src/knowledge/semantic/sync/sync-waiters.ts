import type { Reader } from '../../../platform/storage/database.ts'
import { isProjectThere, syncState } from './store-sync.ts'

interface Waiter {
  /** By project: the change that must be reached. */
  targets: Map<number, number>
  resolve(): void
  reject(reason: unknown): void
}

/** Those who wait until the vectors of projects have come to a change. */
export class SyncWaiters {
  readonly #db: Reader
  readonly #waiters = new Set<Waiter>()

  constructor(db: Reader) {
    this.#db = db
  }

  /** Settles when each of the projects has come to its change, or is gone. */
  wait(targets: Map<number, number>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiters.add({ targets, resolve, reject })
    return promise
  }

  /** To be called whenever a project may have come further. */
  async answer(modelId: number): Promise<void> {
    for (const waiter of this.#waiters) {
      for (const [projectId, target] of waiter.targets) {
        const state = await syncState(this.#db, { projectId, modelId })
        const isReached = target === 0 || (state?.synced_seq ?? 0) >= target
        if (isReached || !(await isProjectThere(this.#db, projectId))) waiter.targets.delete(projectId)
      }
      if (waiter.targets.size > 0) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  reject(reason: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(reason)
    this.#waiters.clear()
  }
}
