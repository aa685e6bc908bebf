import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'

const NAME = 'vapid'

/** The public half. */
export async function readVapidKey(reader: Reader): Promise<string | undefined> {
  const row = await reader.query
    .selectFrom('instance_secrets')
    .select('public_value')
    .where('name', '=', NAME)
    .executeTakeFirst()
  return row?.public_value
}

export async function keepVapidKey(tx: Transaction, publicKey: string, sealed: string, now: Micros): Promise<void> {
  await tx.query
    .insertInto('instance_secrets')
    .values({ name: NAME, public_value: publicKey, sealed_value: sealed, created_at: now })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}
