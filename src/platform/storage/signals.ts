/** Topics within this process. On PostgreSQL the listener feeds it from other processes, too. */
export class Signals {
  readonly #listeners = new Map<string, Set<(body: string) => void>>()

  subscribe(topic: string, listener: (body: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(topic)
    }
  }

  emit(topic: string, body: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(body)
  }

  /** After a gap in which signals may have been missed: every listener looks for itself. */
  emitAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.emit(topic, '')
  }
}
