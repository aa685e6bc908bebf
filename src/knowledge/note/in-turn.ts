import type { Database } from '../../platform/storage/database.ts'

const queues = new WeakMap<Database, Map<string, Promise<unknown>>>()

/** Work of one key one after the other. Who waits here does not hold a connection that others need meanwhile. */
export async function inTurn<T>(db: Database, key: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(db) ?? new Map<string, Promise<unknown>>()
  queues.set(db, queue)
  const before = queue.get(key) ?? Promise.resolve()
  const turn = before.then(work, work)
  queue.set(key, turn)
  try {
    return await turn
  } finally {
    if (queue.get(key) === turn) queue.delete(key)
  }
}
