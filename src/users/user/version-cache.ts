import type { Clock } from '../../platform/clock/clock.ts'

export interface VersionCacheOptions {
  clock: Clock
  /** Of what is kept, by the sizes given. */
  maxSize: number
  /** Where a version can come late (commits of several processes), what is kept must not grow old. */
  maxAgeMs: number
}

/**
 * Answers that cost much, kept as long as the data has the version that they were read at. Those who ask for the same
 * at the same time share the work.
 */
export class VersionCache<T> {
  readonly #options: VersionCacheOptions
  readonly #kept = new Map<string, { value: T; size: number; version: number; readAt: number }>()
  readonly #underWay = new Map<string, Promise<T>>()
  #size = 0

  constructor(options: VersionCacheOptions) {
    this.#options = options
  }

  peek(key: string, version: number): T | undefined {
    const entry = this.#kept.get(key)
    if (entry === undefined) return undefined
    if (entry.version !== version || this.#options.clock.elapsedMs() - entry.readAt > this.#options.maxAgeMs) {
      this.#drop(key)
      return undefined
    }
    // Last in the map means used last; the first is the one to drop.
    this.#kept.delete(key)
    this.#kept.set(key, entry)
    return entry.value
  }

  get(key: string, version: number, make: () => Promise<T>, sizeOf: (value: T) => number = () => 1): Promise<T> {
    const value = this.peek(key, version)
    if (value !== undefined) return Promise.resolve(value)
    const name = `${version} ${key}`
    const underWay = this.#underWay.get(name)
    if (underWay !== undefined) return underWay
    const readAt = this.#options.clock.elapsedMs()
    const making = make()
      .then((made) => {
        this.#keep(key, { value: made, size: sizeOf(made), version, readAt })
        return made
      })
      .finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, making)
    return making
  }

  #keep(key: string, entry: { value: T; size: number; version: number; readAt: number }): void {
    this.#drop(key)
    this.#kept.set(key, entry)
    this.#size += entry.size
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#options.maxSize) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0
    this.#kept.delete(key)
  }
}
