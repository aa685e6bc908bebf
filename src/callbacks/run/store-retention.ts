import { sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import { KEPT_ATTEMPTS } from './store-attempts.ts'
import { deleteRunNumbers } from './store-delete.ts'
import { RUNNING_SORT_AT } from './store-runs.ts'

/** So many at a time, so that nobody waits for long behind them. */
export const RETENTION_CHUNK = 500
// Fewer where they are large: SQLite takes ten milliseconds for a megabyte.
const CHUNK_BYTES = 4 * 1024 * 1024
// At most, with its message and what was answered.
const ATTEMPT_BYTES = 5 * 1024

interface ClosedRow {
  run_number: number
  attempt: number
  input_bytes: number | null
}

// Chosen first: PostgreSQL may think that there are few, and would look at the inputs of all of them for each chunk.
const closedBefore = statement<{ namespaceId: Id<'Namespace'>; before: Micros }, ClosedRow>(
  (_query, p, engine) => sql`
    select oldest.run_number, oldest.attempt,
      length(i.completion) + length(i.callback) + coalesce(length(i.search_attributes), 0) as input_bytes
    from (
      select run_number, attempt, sort_at from callback_runs
      where namespace_id = ${p('namespaceId')} and sort_at < ${p('before')}
      order by sort_at limit ${unplanned(engine, sql.lit(RETENTION_CHUNK))}
    ) oldest left join callback_inputs i on i.run_number = oldest.run_number
    order by oldest.sort_at`,
)

/**
 * Deletes a chunk of the runs that closed before the time, oldest first, and answers how many: 0 means that none is left.
 * Without a time every closed one goes. Running ones stay.
 */
export async function deleteClosedRuns(
  tx: Transaction,
  namespaceId: Id<'Namespace'>,
  before: Micros = RUNNING_SORT_AT,
): Promise<number> {
  const rows = await tx.run(closedBefore, { namespaceId, before: Math.min(before, RUNNING_SORT_AT) })
  const chunk: number[] = []
  let bytes = 0
  for (const { run_number, attempt, input_bytes } of rows) {
    if (bytes > CHUNK_BYTES) break
    bytes += (input_bytes ?? 0) + Math.min(attempt, KEPT_ATTEMPTS) * ATTEMPT_BYTES
    chunk.push(run_number)
  }
  await deleteRunNumbers(tx, chunk)
  return chunk.length
}
