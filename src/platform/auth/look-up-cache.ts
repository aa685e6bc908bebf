import type { Clock } from '../clock/clock.ts'

export interface LookUpCacheOptions {
  clock: Clock
  maxAgeMs: number
  maxFound: number
  /** Kept apart and fewer: a flood of made-up secrets must not push out those that work. */
  maxMissing: number
}

/**
 * Remembers look-ups for a moment, misses included. Requests that ask for the same key at the same time share one
 * look-up. An answer that was under way when everything was forgotten is given to those who wait, but not kept.
 */
export class LookUpCache<T> {
  readonly #options: LookUpCacheOptions
  readonly #found = new Map<string, { value: T; readAt: number }>()
  readonly #missing = new Map<string, { value: T | undefined; readAt: number }>()
  readonly #underWay = new Map<string, Promise<T | undefined>>()

  constructor(options: LookUpCacheOptions) {
    this.#options = options
  }

  /** Of what is remembered, found or not. */
  get size(): number {
    return this.#found.size + this.#missing.size
  }

  get(key: string, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry = this.#fresh(this.#found, key) ?? this.#fresh(this.#missing, key)
    if (entry !== undefined) return Promise.resolve(entry.value)
    return this.#underWay.get(key) ?? this.#start(key, this.#options.clock.elapsedMs(), lookUp)
  }

  /** What was found and is still fresh, without waiting. */
  peek(key: string): T | undefined {
    return this.#fresh(this.#found, key)?.value
  }

  #fresh<V>(entries: Map<string, { value: V; readAt: number }>, key: string): { value: V } | undefined {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    const { clock, maxAgeMs } = this.#options
    if (clock.elapsedMs() - entry.readAt < maxAgeMs) {
      // Last in the map means used last; the first is the one to drop. While there is room the order does not matter.
      if (entries.size > this.#options.maxMissing / 2) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry
    }
    entries.delete(key)
    return undefined
  }

  clear(): void {
    this.#found.clear()
    this.#missing.clear()
    this.#underWay.clear()
  }

  #start(key: string, readAt: number, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    const promise = lookUp().then(
      (value) => {
        if (this.#underWay.get(key) === promise) {
          this.#underWay.delete(key)
          this.#keep(key, value, readAt)
        }
        return value
      },
      (error: unknown) => {
        if (this.#underWay.get(key) === promise) this.#underWay.delete(key)
        throw error
      },
    )
    this.#underWay.set(key, promise)
    return promise
  }

  #keep(key: string, value: T | undefined, readAt: number): void {
    if (value === undefined) {
      this.#missing.set(key, { value, readAt })
      trim(this.#missing, this.#options.maxMissing)
    } else {
      this.#found.set(key, { value, readAt })
      trim(this.#found, this.#options.maxFound)
    }
  }
}

function trim(entries: Map<string, unknown>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return
    entries.delete(key)
  }
}
