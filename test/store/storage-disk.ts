import { join } from 'node:path'
import { sql } from 'kysely'
import { type Clock, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

/** A database over a disk whose syncs are made by hand. */
export async function openOver(
  opened: Database[],
  sync: () => Promise<void>,
  clock: Clock = new SystemClock(),
  log = silentLogger(),
): Promise<SqliteDatabase> {
  let isReady = false
  const file = join(tempDir(), 'commonplace.db')
  const db = new SqliteDatabase(file, clock, log, () => (isReady ? sync() : Promise.resolve()))
  opened.push(db)
  await db.write((tx) => sql`create table items (id text primary key, value bigint not null)`.execute(tx.query))
  isReady = true
  return db
}
