import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../src/platform/storage/database.ts'

/** Until another transaction of the database waits for a lock. */
export async function somebodyWaits(db: Database): Promise<void> {
  for (;;) {
    const waiting = await db.query
      .selectFrom('pg_stat_activity' as never)
      .selectAll()
      .where('datname' as never, '=', (await databaseName(db)) as never)
      .where('wait_event_type' as never, '=', 'Lock' as never)
      .execute()
    if (waiting.length > 0) return
    await setImmediate()
  }
}

async function databaseName(db: Database): Promise<string> {
  const { fn } = db.query
  const { name } = await db.query.selectNoFrom(fn<string>('current_database').as('name')).executeTakeFirstOrThrow()
  return name
}
