import { newId } from '../ids/uuid.ts'
import type { Database, Transaction } from './database.ts'

/** May answer a promise: of what it has to read before the change counts for it. It must not reject. */
export type ChangeListener = () => Promise<void> | void

/**
 * Carries the news that something changed to whoever keeps what it was: at once within this process, by a signal to the
 * others.
 */
export class Announcements {
  readonly #topic: string
  /** Its own signals come back to it, and tell nothing new. */
  readonly #sender = newId()
  readonly #listeners = new Set<ChangeListener>()
  readonly #unsubscribe: () => void
  readonly #pending = new Set<Promise<void>>()

  constructor(db: Pick<Database, 'subscribe'>, topic: string) {
    this.#topic = topic
    this.#unsubscribe = db.subscribe(topic, (sender) => {
      if (sender !== this.#sender) this.#tell()
    })
  }

  /** Part of every such change. */
  announce(tx: Transaction): void {
    tx.afterCommit(() => this.#tell())
    tx.signal(this.#topic, this.#sender)
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Something changed that no other process has to know: everybody here reads anew. */
  renew(): Promise<void> {
    this.#tell()
    return this.settled()
  }

  /** Until every listener here acts by what was announced so far. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  close(): void {
    this.#unsubscribe()
    this.#listeners.clear()
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      const waiting = listener()
      if (waiting === undefined) continue
      this.#pending.add(waiting)
      void waiting.finally(() => this.#pending.delete(waiting))
    }
  }
}
