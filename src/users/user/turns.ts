/** One after the other for each key, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

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
