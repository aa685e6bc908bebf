import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import { newId } from '../ids/uuid.ts'
import type { Reader, Transaction } from '../storage/database.ts'

/** Among the facts about the installation; the only one that a restore does not take from the backup. */
const KEY = 'restored'

/** From here on, numbers that were given out after the backup was made are given out again, for something else. */
export async function markRestored(tx: Transaction, now: Micros): Promise<void> {
  await sql`insert into installation (key, value, created_at) values (${KEY}, ${newId()}, ${now})
    on conflict (key) do update set value = excluded.value, created_at = excluded.created_at`.execute(tx.query)
}

/** The restore that these data came from, by an id of its own; null when they never were restored. */
export async function lastRestore(reader: Reader): Promise<string | null> {
  const { rows } = await sql<{ value: string }>`select value from installation where key = ${KEY}`.execute(reader.query)
  return rows[0]?.value ?? null
}
