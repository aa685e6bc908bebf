import { sql } from 'kysely'
import type { Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'

const SIDE_TABLES = ['callback_inputs', 'callback_failures', 'callback_attempts', 'callback_attributes']

const [deleteRuns, ...deleteSides] = ['callback_runs', ...SIDE_TABLES].map((table) =>
  statement<{ runNumbers: string }>(
    (_query, p, engine) => sql`
      delete from ${sql.table(table)} where run_number in ${numbersIn(engine, p('runNumbers'))}`,
  ),
)

/** Takes these runs away with everything that belongs to them, in whatever state they are. Answers how many there were. */
export async function deleteRunNumbers(tx: Transaction, runNumbers: readonly number[]): Promise<number> {
  if (runNumbers.length === 0 || deleteRuns === undefined) return 0
  const input = { runNumbers: JSON.stringify(runNumbers) }
  // The run first: who settles its attempt at this moment waits for it, and finds nothing to write a log for.
  const deleted = await tx.change(deleteRuns, input)
  for (const each of deleteSides) await tx.change(each, input)
  return deleted
}

/** False when it was gone already. */
export async function deleteRun(tx: Transaction, runNumber: number): Promise<boolean> {
  return (await deleteRunNumbers(tx, [runNumber])) === 1
}
