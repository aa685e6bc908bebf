import { sql } from 'kysely'
import type { RunFailures } from '../../src/callbacks/run/run.ts'
import { readFailure } from '../../src/callbacks/run/store-runs.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import '../../src/callbacks/tables.ts'
import { NAMESPACE } from './store-world.ts'

/** A run by what a due query looks at, with small numbers for times. */
export interface SampleRow {
  destination: number
  state: number
  due: number | null
  next: number | null
  deadline: number | null
  closed?: number
}

/** Destinations with the numbers 1 to `count`. */
export async function addDestinations(db: Database, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: n + 1,
    namespace_id: NAMESPACE,
    destination: `https://d${n + 1}.example.org`,
    last_success_at: null,
    last_failure_at: null,
    last_failure_message: null,
  }))
  await db.write((tx) => tx.query.insertInto('callback_destinations').values(rows).execute())
}

/** Puts these in the place of all runs that are there. Their numbers follow their order. */
export async function fillRuns<Row extends SampleRow>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & { runNumber: number })[]> {
  const numbered = rows.map((row, n) => ({ ...row, runNumber: n + 1 }))
  const columns = ['runNumber', 'destination', 'state', 'due', 'next', 'deadline', 'closed'] as const
  await db.write(
    async (tx) => {
      for (const table of ['callback_runs', 'callback_inputs'] as const) await tx.query.deleteFrom(table).execute()
      const json = JSON.stringify(
        numbered.map((row) => Object.fromEntries(columns.map((key) => [key, row[key] ?? null]))),
      )
      const [list, number] =
        tx.engine === 'sqlite'
          ? [sql`json_each(${json})`, (key: string) => sql`value ->> ${sql.lit(key)}`]
          : [sql`json_array_elements(${json}::json)`, (key: string) => sql`(value ->> ${sql.lit(key)})::bigint`]
      await sql`
        insert into callback_runs (run_number, destination_id, state, due_at, next_attempt_at, deadline_at, closed_at,
          sort_at, namespace_id, callback_id, run_id, request_id, status, attempt, transition_count, created_at)
        select ${sql.join(columns.map(number))}, coalesce(${number('closed')}, 9007199254740991), ${NAMESPACE},
          ${number('runNumber')}, ${number('runNumber')}, '', case when ${number('closed')} is null then 1 else 2 end, 0, 1, 0
        from ${list}`.execute(tx.query)
      const bytes = Buffer.from('input')
      await sql`insert into callback_inputs (run_number, callback, completion)
        select run_number, ${bytes}, ${bytes} from callback_runs`.execute(tx.query)
      if (tx.engine === 'postgres') {
        await sql`select setval(pg_get_serial_sequence('callback_runs', 'run_number'), 1000000)`.execute(tx.query)
      }
    },
    { alone: true },
  )
  return numbered
}

/** What is stored as the failures of a run; nothing in both for one that never failed. */
export async function findFailures(reader: Reader, runNumber: number): Promise<RunFailures> {
  const row = await reader.query
    .selectFrom('callback_failures')
    .select(['last_attempt', 'terminal'])
    .where('run_number', '=', runNumber)
    .executeTakeFirst()
  return { lastAttempt: readFailure(row?.last_attempt), terminal: readFailure(row?.terminal) }
}
