import { sql } from 'kysely'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { unindexed } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { GivenRetryPolicy } from '../state/run-record.ts'
import { RUN_STATES, type RunState, STATE_NUMBERS } from '../state/run-state.ts'
import type { StoredFailure } from '../state/stored-failure.ts'
import type { CallbackInputsTable, CallbackRunRow } from '../tables.ts'
import type { RunInput, StoredRun } from './run.ts'

/** After every time that a run can have: what `sort_at` holds while it is running. */
export const RUNNING_SORT_AT = Number.MAX_SAFE_INTEGER

const COLUMNS = [
  'run_number',
  'namespace_id',
  'callback_id',
  'run_id',
  'request_id',
  'destination_id',
  'timeout_micros',
  'state',
  'attempt',
  'transition_count',
  'created_at',
  'deadline_at',
  'next_attempt_at',
  'last_attempt_completed_at',
  'closed_at',
  'terminate_request_id',
  'retry_policy',
] as const satisfies readonly (keyof CallbackRunRow)[]

export type RunRow = Pick<CallbackRunRow, (typeof COLUMNS)[number]>

/** What `storedRun` needs, of `callback_runs r`. */
export const RUN_COLUMNS = sql.join(COLUMNS.map((column) => sql.ref(`r.${column}`)))

const STATES: readonly RunState[] = Object.assign(
  [],
  Object.fromEntries(RUN_STATES.map((state) => [STATE_NUMBERS[state], state])),
)

export function storedRun(row: RunRow): StoredRun {
  return {
    runNumber: row.run_number,
    namespaceId: row.namespace_id,
    callbackId: row.callback_id,
    runId: row.run_id,
    requestId: row.request_id,
    destinationId: row.destination_id,
    timeoutMicros: row.timeout_micros,
    record: {
      state: STATES[row.state] as RunState,
      attempt: row.attempt,
      transitionCount: row.transition_count,
      createdAt: row.created_at,
      deadlineAt: row.deadline_at,
      nextAttemptAt: row.next_attempt_at,
      lastAttemptCompletedAt: row.last_attempt_completed_at,
      closedAt: row.closed_at,
      terminateRequestId: row.terminate_request_id,
      retryPolicy: row.retry_policy === null ? null : (JSON.parse(row.retry_policy) as GivenRetryPolicy),
    },
  }
}

type NamedRun = { namespaceId: Id<'Namespace'>; callbackId: string }
type FoundRow = RunRow & { destination: string }

const latestRun = statement<NamedRun, FoundRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS}, d.destination
    from callback_runs r join callback_destinations d on d.id = r.destination_id
    where r.namespace_id = ${p('namespaceId')} and r.callback_id = ${p('callbackId')}
    order by r.run_number desc limit 1`,
)

const runById = statement<NamedRun & { runId: string }, FoundRow>(
  (_query, p, engine) => sql`
    select ${RUN_COLUMNS}, d.destination
    from callback_runs r join callback_destinations d on d.id = r.destination_id
    where r.run_id = ${p('runId')} and ${unindexed(engine, 'r.callback_id')} = ${p('callbackId')}
      and ${unindexed(engine, 'r.namespace_id')} = ${p('namespaceId')}`,
)

export type FoundRun = StoredRun & { readonly destination: string }

/** The run with this id, or the latest one when there is none given. */
export async function findRun(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  callbackId: string,
  runId: string | null,
): Promise<FoundRun | undefined> {
  const [row] =
    runId === null
      ? await reader.run(latestRun, { namespaceId, callbackId })
      : await reader.run(runById, { namespaceId, callbackId, runId })
  return row && { ...storedRun(row), destination: row.destination }
}

/** How often each of these runs has changed; a run that is gone is not among them. */
export async function transitionCounts(reader: Reader, runNumbers: readonly number[]): Promise<Map<number, number>> {
  const rows = await reader.query
    .selectFrom('callback_runs')
    .select(['run_number', 'transition_count'])
    .where('run_number', 'in', numbersIn(reader.engine, JSON.stringify(runNumbers)))
    .execute()
  return new Map(rows.map((row) => [row.run_number, row.transition_count]))
}

const inputOf = statement<{ runNumber: number }, Omit<CallbackInputsTable, 'run_number'>>((query, p) =>
  query
    .selectFrom('callback_inputs')
    .select(['search_attributes', 'callback', 'completion'])
    .where('run_number', '=', p('runNumber')),
)

export async function findInput(reader: Reader, runNumber: number): Promise<RunInput | undefined> {
  const [row] = await reader.run(inputOf, { runNumber })
  return row && { callback: row.callback, completion: row.completion, searchAttributes: row.search_attributes }
}

const completionBytesOf = statement<{ runNumber: number }, { bytes: number }>(
  (_query, p) => sql`select length(completion) as bytes from callback_inputs where run_number = ${p('runNumber')}`,
)

/** Without reading it; 0 when it is gone. */
export async function findCompletionBytes(reader: Reader, runNumber: number): Promise<number> {
  const [row] = await reader.run(completionBytesOf, { runNumber })
  return row?.bytes ?? 0
}

export function readFailure(json: string | null | undefined): StoredFailure | null {
  return json == null ? null : (JSON.parse(json) as StoredFailure)
}
