import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { WakeTimer } from '../deliver/wake-timer.ts'
import { transitionCounts } from './store-runs.ts'

// On PostgreSQL a change by another process is not announced: notifications make commits wait for one another.
const LOOK_MS = 500
const AT_ONCE = 1_000

interface Watcher {
  count: number
  wake: () => void
}

/** Wakes whoever waits for a run to change. */
export class RunWatch {
  readonly #db: Database
  readonly #clock: Clock
  readonly #timer: WakeTimer
  readonly #watchers = new Map<number, Set<Watcher>>()
  #isLooking = false

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
    this.#timer = new WakeTimer(clock)
  }

  /**
   * Resolves when the run changed after `count`, when it was deleted, when the time is over, or when the caller has gone;
   * whoever waited looks at the run again. To be called before the run is read for the last time.
   */
  changed(runNumber: number, count: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const watcher = { count, wake: resolve }
    const watchers = this.#watchers.get(runNumber) ?? new Set()
    this.#watchers.set(runNumber, watchers.add(watcher))
    const cancel = this.#clock.after(timeoutMs, resolve)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    if (signal?.aborted) resolve()
    this.#lookLater()
    return promise.finally(() => {
      cancel()
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(runNumber) === watchers) this.#watchers.delete(runNumber)
    })
  }

  /** Something was committed for the run. */
  notify(runNumber: number): void {
    for (const { wake } of this.#watchers.get(runNumber) ?? []) wake()
  }

  /** The server stops: everybody is answered. */
  wakeAll(): void {
    for (const runNumber of this.#watchers.keys()) this.notify(runNumber)
  }

  /** Not while one looks: a slow database is not asked by ever more at once. Who comes meanwhile is looked after next. */
  #lookLater(): void {
    if (this.#db.engine === 'sqlite' || this.#watchers.size === 0 || this.#isLooking) return
    this.#timer.wakeAt(this.#clock.now() + LOOK_MS * MICROS_PER_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    const waiting = [...this.#watchers.keys()]
    try {
      for (let from = 0; from < waiting.length; from += AT_ONCE) {
        const numbers = waiting.slice(from, from + AT_ONCE)
        const counts = await transitionCounts(this.#db, numbers)
        for (const runNumber of numbers) {
          const now = counts.get(runNumber)
          for (const { count, wake } of this.#watchers.get(runNumber) ?? []) if (now !== count) wake()
        }
      }
    } catch {
      // Storage that is away is asked again; whoever waits does so until its time is over.
    }
    this.#isLooking = false
    this.#lookLater()
  }
}
