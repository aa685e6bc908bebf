import type { Micros } from '../clock/clock.ts'
import type { Transaction } from '../storage/database.ts'
import { signalOnce } from './enqueue.ts'
import type { Join } from './job-kind.ts'
import type { Outcome } from './outcome.ts'
import { buryLeased, type ClaimedRow, insertOverwriting, insertYielding, removeLeased, returnLeased } from './store.ts'

/** Writes what became of a leased job. False, and nothing written, when the lease is no longer ours. */
export async function settle(
  tx: Transaction,
  row: ClaimedRow,
  join: Join,
  outcome: Outcome,
  now: Micros,
): Promise<boolean> {
  const lease = { id: row.id, fence: row.fence }
  switch (outcome.kind) {
    case 'done':
      return (await tx.run(removeLeased, lease)).length > 0
    case 'dead':
      return (await tx.run(buryLeased, { ...lease, last_error: outcome.error, changed_at: now })).length > 0
    case 'retry':
      return backToWaiting(tx, { ...row, due_at: outcome.dueAt, last_error: outcome.error }, join, now)
    case 'released':
      signalOnce(tx, row.kind)
      return backToWaiting(tx, { ...row, attempt: row.attempt - 1 }, join, now)
    case 'again': {
      const payload = outcome.payload ?? row.payload
      return backToWaiting(tx, { ...row, due_at: outcome.dueAt, attempt: 0, last_error: null, payload }, join, now)
    }
  }
}

/**
 * NOTE While this one ran, the same key may have been asked for again. Removing the row first and then inserting it
 * lets the database decide, without a gap, whether there is a waiting job to join. The one that ran is the older.
 */
async function backToWaiting(tx: Transaction, row: ClaimedRow, join: Join, now: Micros): Promise<boolean> {
  const { lease_until: _, ...waiting } = row
  if (row.coalesce_key === null) return (await tx.run(returnLeased, { ...waiting, changed_at: now })).length > 0
  const removed = await tx.run(removeLeased, { id: row.id, fence: row.fence })
  if (removed.length === 0) return false
  await tx.run(join === 'keep' ? insertOverwriting : insertYielding, { ...waiting, changed_at: now })
  return true
}
