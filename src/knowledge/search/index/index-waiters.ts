interface Waiter {
  /** The change that it waits for. */
  seq: number
  promise: Promise<void>
  resolve(): void
  reject(reason: unknown): void
}

/** Those who wait until the index has come to a change. */
export class IndexWaiters {
  readonly #waiters = new Set<Waiter>()

  get size(): number {
    return this.#waiters.size
  }

  add(seq: number): Waiter {
    const waiter = { seq, ...Promise.withResolvers<void>() }
    this.#waiters.add(waiter)
    return waiter
  }

  delete(waiter: Waiter): void {
    this.#waiters.delete(waiter)
  }

  /** Whoever waits for a change that the index has by now does so no longer. */
  answer(has: (seq: number) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!has(waiter.seq)) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Nobody has to wait any longer, nor gets what was waited for. */
  reject(reason: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(reason)
  }
}
