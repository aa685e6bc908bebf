import type { Micros } from '../clock/clock.ts'
import type { Database, Reader } from '../storage/database.ts'

const DATA_KEY = 'data_key'

export async function readDataKey(reader: Reader): Promise<string | undefined> {
  const row = await reader.query
    .selectFrom('installation')
    .select('value')
    .where('key', '=', DATA_KEY)
    .executeTakeFirst()
  return row?.value
}

/** Of several processes that start at once the first one's key stays; whoever calls reads it back. */
export async function keepDataKey(db: Database, value: string, at: Micros): Promise<void> {
  await db.write(
    (tx) =>
      tx.query
        .insertInto('installation')
        .values({ key: DATA_KEY, value, created_at: at })
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute(),
    { isolation: 'read committed' },
  )
}

export async function replaceDataKey(db: Database, from: string, to: string): Promise<void> {
  await db.write(
    (tx) =>
      tx.query
        .updateTable('installation')
        .set({ value: to })
        .where('key', '=', DATA_KEY)
        .where('value', '=', from)
        .execute(),
    { isolation: 'read committed' },
  )
}
