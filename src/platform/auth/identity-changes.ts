import type { Database, Transaction } from '../storage/database.ts'

const TOPIC = 'identity'

/**
 * Carries the news that credentials, users, roles or permissions changed to whoever remembers what they were: at
 * once within this process, by a signal to the others.
 */
export class IdentityChanges {
  readonly #listeners = new Set<() => void>()
  readonly #unsubscribe: () => void

  constructor(db: Pick<Database, 'subscribe'>) {
    this.#unsubscribe = db.subscribe(TOPIC, () => this.#tell())
  }

  /** Part of every change that could take away or give a right. */
  announce(tx: Transaction): void {
    tx.afterCommit(() => this.#tell())
    tx.signal(TOPIC)
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
