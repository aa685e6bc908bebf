import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'

/** Changes when the hosts that took a delivery may have changed; costs less than reading them. */
export async function acceptedHostsMark(reader: Reader): Promise<string> {
  const { rows } = await sql<{ accepted: number; last: number | null }>`
    select count(last_success_at) as accepted, max(id) as last from callback_destinations`.execute(reader.query)
  return `${rows[0]?.accepted} ${rows[0]?.last}`
}
