import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'

declare module '../../platform/storage/tables.ts' {
  interface Tables {
    user_passwords: { user_id: UserId; hash: string; changed_at: Micros }
  }
}

export async function findPasswordHash(reader: Reader, userId: UserId): Promise<string | null> {
  const row = await reader.query
    .selectFrom('user_passwords')
    .select('hash')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.hash ?? null
}

/** Those of them who have one. */
export async function usersWithPassword(reader: Reader, userIds: readonly UserId[]): Promise<Set<UserId>> {
  if (userIds.length === 0) return new Set()
  const rows = await reader.query
    .selectFrom('user_passwords')
    .select('user_id')
    .where('user_id', 'in', [...userIds])
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

export async function setPasswordHash(tx: Transaction, userId: UserId, hash: string, at: Micros): Promise<void> {
  await tx.query
    .insertInto('user_passwords')
    .values({ user_id: userId, hash, changed_at: at })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash, changed_at: at }))
    .execute()
}
