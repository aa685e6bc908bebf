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

const BESIDE = ['callback_inputs', 'callback_failures', 'callback_attempts', 'callback_attributes'] as const

/** Takes away closed runs with everything there is of them, at most `limit`. How many. */
export async function removeClosedRuns(tx: Transaction, id: NamespaceId, limit: number): Promise<number> {
  const rows = await tx.query
    .selectFrom('callback_runs')
    .select('run_number')
    .where('namespace_id', '=', id)
    .where('sort_at', '<', RUNNING_SORT_AT)
    .orderBy('sort_at')
    .limit(limit)
    .execute()
  if (rows.length === 0) return 0
  const numbers = rows.map(({ run_number }) => run_number)
  for (const table of BESIDE) await tx.query.deleteFrom(table).where('run_number', 'in', numbers).execute()
  await tx.query.deleteFrom('callback_runs').where('run_number', 'in', numbers).execute()
  return numbers.length
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
