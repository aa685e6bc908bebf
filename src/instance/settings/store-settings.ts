import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'

export async function readSettingRows(reader: Reader): Promise<{ key: string; value: string }[]> {
  return reader.query.selectFrom('instance_settings').select(['key', 'value']).orderBy('key').execute()
}

export async function putSetting(tx: Transaction, key: string, value: string, now: Micros): Promise<void> {
  await tx.query
    .insertInto('instance_settings')
    .values({ key, value, modified_at: now })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, modified_at: now }))
    .execute()
}

export async function deleteSetting(tx: Transaction, key: string): Promise<void> {
  await tx.query.deleteFrom('instance_settings').where('key', '=', key).execute()
}
