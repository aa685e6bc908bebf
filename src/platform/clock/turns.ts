/** One after the other for each key, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** What becomes of the work, those behind it do not care. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const endTurn = await this.take(key)
    try {
      return await work()
    } finally {
      endTurn()
    }
  }

  /** Settles when it is the caller's turn, whose end the answer tells. */
  async take(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    await before
    return () => {
      if (this.#last.get(key) === promise) this.#last.delete(key)
      resolve()
    }
  }
}
