import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'
import type { UserTotpTable } from '../tables.ts'

export async function findTotp(reader: Reader, userId: UserId): Promise<UserTotpTable | undefined> {
  return reader.query.selectFrom('user_totp').selectAll().where('user_id', '=', userId).executeTakeFirst()
}

/** Takes the place of an enrolment that was never confirmed. */
export async function putTotp(tx: Transaction, row: UserTotpTable): Promise<void> {
  const { user_id: _, ...values } = row
  await tx.query
    .insertInto('user_totp')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute()
}

export async function confirmTotp(tx: Transaction, userId: UserId, step: number, at: Micros): Promise<void> {
  await tx.query
    .updateTable('user_totp')
    .set({ confirmed_at: at, last_step: step })
    .where('user_id', '=', userId)
    .execute()
}

/** False when that step, or a later one, has been used: of two who send the same code, one gets in. */
export async function useStep(tx: Transaction, userId: UserId, step: number): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('user_totp')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** With the recovery codes. False when there was no confirmed second factor. */
export async function deleteTotp(tx: Transaction, userId: UserId): Promise<boolean> {
  await tx.query.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  const removed = await tx.query
    .deleteFrom('user_totp')
    .where('user_id', '=', userId)
    .returning('confirmed_at')
    .execute()
  return removed.some((row) => row.confirmed_at !== null)
}

export async function replaceRecoveryCodes(tx: Transaction, userId: UserId, hashes: readonly string[]): Promise<void> {
  await tx.query.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  const rows = hashes.map((hash) => ({ user_id: userId, code_hash: hash, used_at: null }))
  await tx.query.insertInto('recovery_codes').values(rows).execute()
}

/** False when there is no such code, or it has been used. */
export async function useRecoveryCode(tx: Transaction, userId: UserId, hash: string, at: Micros): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('recovery_codes')
    .set({ used_at: at })
    .where('user_id', '=', userId)
    .where('code_hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
