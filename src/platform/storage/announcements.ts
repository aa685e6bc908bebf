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
  readonly #sender = newId()
  #changes = 0
  /** Changes made here that everybody here knows of, whose signal has not come back yet. */
  readonly #told = new Set<string>()
  /** The other way round. A commit whose answer was lost is told by its signal alone. */
  readonly #heard = new Set<string>()
  readonly #listeners = new Set<ChangeListener>()
  readonly #unsubscribe: () => void
  readonly #pending = new Set<Promise<void>>()

  constructor(db: Pick<Database, 'subscribe'>, topic: string) {
    this.#topic = topic
    this.#unsubscribe = db.subscribe(topic, (change) => this.#hear(change))
  }

  /** Part of every such change. */
  announce(tx: Transaction): void {
    const change = `${this.#sender} ${++this.#changes}`
    tx.afterCommit(() => {
      if (this.#heard.delete(change)) return
      this.#told.add(change)
      this.#tell()
    })
    tx.signal(this.#topic, change)
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

  #hear(change: string): void {
    // After a gap: signals were missed, and do not come any more.
    if (change === '') this.#told.clear()
    if (this.#told.delete(change)) return
    if (change.startsWith(this.#sender)) this.#heard.add(change)
    this.#tell()
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
