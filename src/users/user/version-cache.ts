import type { Clock } from '../../platform/clock/clock.ts'

export interface VersionCacheOptions {
  clock: Clock
  mostKept: number
  /** Where a version can come late (commits of several processes), what is kept must not grow old. */
  maxAgeMs: number
}

/**
 * Answers that cost much, kept as long as the data has the version that they were read at. Those who ask for the same
 * at the same time share the work.
 */
export class VersionCache<T> {
  readonly #options: VersionCacheOptions
  readonly #kept = new Map<string, { value: T; version: number; readAt: number }>()
  readonly #underWay = new Map<string, Promise<T>>()

  constructor(options: VersionCacheOptions) {
    this.#options = options
  }

  get(key: string, version: number, make: () => Promise<T>): Promise<T> {
    const kept = this.#fresh(key, version)
    if (kept !== undefined) return Promise.resolve(kept.value)
    const name = `${version} ${key}`
    const underWay = this.#underWay.get(name)
    if (underWay !== undefined) return underWay
    const readAt = this.#options.clock.elapsedMs()
    const making = make()
      .then((value) => {
        this.#kept.set(key, { value, version, readAt })
        const [oldest] = this.#kept.keys()
        if (oldest !== undefined && this.#kept.size > this.#options.mostKept) this.#kept.delete(oldest)
        return value
      })
      .finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, making)
    return making
  }

  #fresh(key: string, version: number): { value: T } | undefined {
    const entry = this.#kept.get(key)
    this.#kept.delete(key)
    const { clock, maxAgeMs } = this.#options
    if (entry === undefined || entry.version !== version || clock.elapsedMs() - entry.readAt > maxAgeMs)
      return undefined
    // Last in the map means used last; the first is the one to drop.
    this.#kept.set(key, entry)
    return entry
  }
}
