import { Turns } from '../../platform/clock/turns.ts'
import type { Database } from '../../platform/storage/database.ts'

const turnsOf = new WeakMap<Database, Turns>()

/** Work of one key one after the other. Who waits here does not hold a connection that others need meanwhile. */
export function inTurn<T>(db: Database, key: string, work: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(db) ?? new Turns()
  turnsOf.set(db, turns)
  return turns.run(key, work)
}
