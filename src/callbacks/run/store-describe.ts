import { sql } from 'kysely'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { unindexed } from '../../platform/storage/look-up.ts'
import { type Statement, statement } from '../../platform/storage/statement.ts'
import type { RunFailures, StoredRun } from './run.ts'
import { RUN_COLUMNS, type RunRow, readFailure, storedRun } from './store-runs.ts'

/** How much of a run is read: only what became of it, what it was given to do as well, or all of it. */
export type Extent = 'outcome' | 'info' | 'input'

/** A run and its failures, as they were at one moment. */
export interface RunWithFailures extends StoredRun {
  readonly failures: RunFailures
}

export interface DescribedRun extends RunWithFailures {
  readonly destination: string
  readonly isPaused: boolean
  /** Encrypted. */
  readonly callback: Uint8Array
  readonly searchAttributes: Uint8Array | null
  /** Null when it was not asked for. */
  readonly completion: Uint8Array | null
}

type Named = { namespaceId: Id<'Namespace'>; callbackId: string }
type FailureColumns = { last_attempt: string | null; terminal: string | null }
type DescribedRow = RunRow &
  FailureColumns & {
    destination: string
    paused: number
    callback: Uint8Array
    search_attributes: Uint8Array | null
    completion?: Uint8Array
  }

const FAILURES = sql`left join callback_failures f on f.run_number = r.run_number`
const INPUT = sql`join callback_destinations d on d.id = r.destination_id join callback_inputs i on i.run_number = r.run_number`
const INFO_COLUMNS = sql`f.last_attempt, f.terminal, d.destination, d.paused, i.callback, i.search_attributes`

const PARTS = {
  outcome: { columns: sql`f.last_attempt, f.terminal`, joins: FAILURES },
  info: { columns: INFO_COLUMNS, joins: sql`${INPUT} ${FAILURES}` },
  input: { columns: sql`${INFO_COLUMNS}, i.completion`, joins: sql`${INPUT} ${FAILURES}` },
}

// One statement each, so that state and failures fit together without a transaction.
const STATEMENTS = {
  outcome: statementsFor<RunRow & FailureColumns>('outcome'),
  info: statementsFor<DescribedRow>('info'),
  input: statementsFor<DescribedRow>('input'),
}

function statementsFor<Row>(extent: Extent): {
  latest: Statement<Named, Row>
  byId: Statement<Named & { runId: string }, Row>
} {
  const { columns, joins } = PARTS[extent]
  return {
    latest: statement(
      (_query, p) => sql`
        select ${RUN_COLUMNS}, ${columns}
        from (
          select * from callback_runs
          where namespace_id = ${p('namespaceId')} and callback_id = ${p('callbackId')}
          order by run_number desc limit 1
        ) as r ${joins}`,
    ),
    byId: statement(
      (_query, p, engine) => sql`
        select ${RUN_COLUMNS}, ${columns}
        from callback_runs r ${joins}
        where r.run_id = ${p('runId')} and ${unindexed(engine, 'r.callback_id')} = ${p('callbackId')}
          and ${unindexed(engine, 'r.namespace_id')} = ${p('namespaceId')}`,
    ),
  }
}

/** The run with this id, or the latest one when there is none given, for whoever wants to know what became of it. */
export async function findOutcome(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  callbackId: string,
  runId: string | null,
): Promise<RunWithFailures | undefined> {
  const { latest, byId } = STATEMENTS.outcome
  const named = { namespaceId, callbackId }
  const [row] = runId === null ? await reader.run(latest, named) : await reader.run(byId, { ...named, runId })
  return row && withFailures(row)
}

/** The same with everything that may be shown of it. */
export async function findDescribed(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  callbackId: string,
  { runId, withCompletion }: { runId: string | null; withCompletion: boolean },
): Promise<DescribedRun | undefined> {
  const { latest, byId } = STATEMENTS[withCompletion ? 'input' : 'info']
  const named = { namespaceId, callbackId }
  const [row] = runId === null ? await reader.run(latest, named) : await reader.run(byId, { ...named, runId })
  return (
    row && {
      ...withFailures(row),
      destination: row.destination,
      isPaused: row.paused === 1,
      callback: row.callback,
      searchAttributes: row.search_attributes,
      completion: row.completion ?? null,
    }
  )
}

function withFailures(row: RunRow & FailureColumns): RunWithFailures {
  const failures = { lastAttempt: readFailure(row.last_attempt), terminal: readFailure(row.terminal) }
  return { ...storedRun(row), failures }
}
