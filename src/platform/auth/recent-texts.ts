import type { Clock } from '../clock/clock.ts'

export interface RecentTextsOptions {
  clock: Clock
  maxAgeMs: number
  maxSize: number
}

/**
 * What was made of texts that are sent again and again, so that a busy server does not hash the same secret for every
 * request. It says nothing about whether a secret still works. All are forgotten together soon after they were sent, used
 * again or not: a secret should not lie in memory.
 */
export class RecentTexts<T> {
  readonly #options: RecentTextsOptions
  readonly #made = new Map<string, T>()
  #cancelTimer: (() => void) | undefined

  constructor(options: RecentTextsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#made.size
  }

  get(text: string): T | undefined {
    return this.#made.get(text)
  }

  /** To be called for texts that work only: made-up ones must not push them out. */
  keep(text: string, made: T): void {
    if (this.#made.size >= this.#options.maxSize) return
    this.#made.set(text, made)
    this.#cancelTimer ??= this.#options.clock.after(this.#options.maxAgeMs, () => this.clear())
  }

  clear(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#made.clear()
  }
}
