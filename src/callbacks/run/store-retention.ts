import { sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { deleteRunNumbers } from './store-delete.ts'
import { RUNNING_SORT_AT } from './store-runs.ts'

/** So many at a time, so that nobody waits for long behind them. */
export const RETENTION_CHUNK = 500

const closedBefore = statement<{ namespaceId: Id<'Namespace'>; before: Micros }, { run_number: number }>(
  (_query, p) => sql`
    select run_number from callback_runs
    where namespace_id = ${p('namespaceId')} and sort_at < ${p('before')}
    order by sort_at limit ${sql.lit(RETENTION_CHUNK)}`,
)

/**
 * Deletes a chunk of the runs that closed before the time, oldest first, and answers how many: less than a chunk means that
 * none is left. Without a time every closed one goes. Running ones stay.
 */
export async function deleteClosedRuns(
  tx: Transaction,
  namespaceId: Id<'Namespace'>,
  before: Micros = RUNNING_SORT_AT,
): Promise<number> {
  const rows = await tx.run(closedBefore, { namespaceId, before: Math.min(before, RUNNING_SORT_AT) })
  await deleteRunNumbers(
    tx,
    rows.map(({ run_number }) => run_number),
  )
  return rows.length
}
