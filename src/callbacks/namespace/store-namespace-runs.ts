import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { RUNNING_SORT_AT } from '../run/store-runs.ts'
import type { NamespaceId } from './namespace.ts'

/** Whether something is still to be delivered. Found in the index of the list, where running ones stand last. */
export async function hasRunning(reader: Reader, id: NamespaceId): Promise<boolean> {
  const row = await reader.query
    .selectFrom('callback_runs')
    .select('run_number')
    .where('namespace_id', '=', id)
    .where('sort_at', '=', RUNNING_SORT_AT)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes away at most `limit` of its destinations. How many. */
export async function removeDestinations(tx: Transaction, id: NamespaceId, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('callback_destinations')
    .where('id', 'in', (eb) =>
      eb.selectFrom('callback_destinations').select('id').where('namespace_id', '=', id).limit(sql.lit(limit)),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
