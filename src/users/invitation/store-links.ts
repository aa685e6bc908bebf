import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'
import type { UserLinksTable } from '../tables.ts'

export async function insertLink(tx: Transaction, link: UserLinksTable): Promise<void> {
  await tx.query.insertInto('user_links').values(link).execute()
}

/** Removes the link, so that of two who hold it one gets it. */
export async function removeLink(
  tx: Transaction,
  purpose: UserLinksTable['purpose'],
  tokenHash: string,
): Promise<UserLinksTable | undefined> {
  return tx.query
    .deleteFrom('user_links')
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteLinksOf(
  tx: Transaction,
  userId: UserId,
  purposes?: readonly UserLinksTable['purpose'][],
): Promise<void> {
  let query = tx.query.deleteFrom('user_links').where('user_id', '=', userId)
  if (purposes !== undefined) query = query.where('purpose', 'in', [...purposes])
  await query.execute()
}

/** How many were removed: `limit` as long as there may be more. */
export async function deleteExpiredLinks(db: Database, before: Micros, limit: number): Promise<number> {
  const rows = await db.write((tx) =>
    tx.query
      .deleteFrom('user_links')
      .where('id', 'in', (eb) =>
        eb.selectFrom('user_links').select('id').where('expires_at', '<', before).orderBy('expires_at').limit(limit),
      )
      .returning('id')
      .execute(),
  )
  return rows.length
}
