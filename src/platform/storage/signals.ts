import type { Logger } from '../logging/logger.ts'

/** Topics within this process. On PostgreSQL the listener feeds it from other processes, too. */
export class Signals {
  readonly #log: Pick<Logger, 'error'>
  readonly #listeners = new Map<string, Set<(body: string) => void>>()

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log
  }

  subscribe(topic: string, listener: (body: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(topic)
    }
  }

  // NOTE A defect in a listener must not keep the news from the others, nor stop the writer or the connection that brings it.
  emit(topic: string, body: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(body)
      } catch (error) {
        this.#log.error({ err: error, topic }, 'a listener to a signal failed')
      }
    }
  }

  /** After a gap in which signals may have been missed: every listener looks for itself. */
  emitAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.emit(topic, '')
  }
}
