import type { Database, Transaction, WriteOptions } from '../platform/storage/database.ts'

const TOPIC = 'instance'

/** May answer a promise: of what it has to read before the change counts for it. It must not reject. */
export type ChangeListener = () => Promise<void> | void

/**
 * Carries the news that an administrator changed something to whoever keeps what it was: at once within this process, by
 * a signal to the others.
 */
export class InstanceChanges {
  readonly #db: Pick<Database, 'write' | 'subscribe'>
  readonly #listeners = new Set<ChangeListener>()
  readonly #unsubscribe: () => void
  readonly #pending = new Set<Promise<void>>()

  constructor(db: Pick<Database, 'write' | 'subscribe'>) {
    this.#db = db
    this.#unsubscribe = db.subscribe(TOPIC, () => this.#tell())
  }

  /** What an administrator does: answered when it holds here. */
  async write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const result = await this.#db.write(work, options)
    await this.settled()
    return result
  }

  /** Part of every change of what the instance shows or does. */
  announce(tx: Transaction): void {
    tx.afterCommit(() => this.#tell())
    tx.signal(TOPIC)
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
