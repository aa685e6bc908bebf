import { sql } from 'kysely'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { startLock } from '../namespace/store-namespace-runs.ts'
import { isLive } from '../namespace/store-namespaces.ts'
import type { AttributeRow } from '../query/attribute-rows.ts'
import { STATE_NUMBERS, STATUS_NUMBERS } from '../state/run-state.ts'
import type { CallbackRunRow } from '../tables.ts'
import type { RunStart, StartAnswer } from './run.ts'
import { RUNNING_SORT_AT } from './store-runs.ts'

/** Columns of a new run with their PostgreSQL types; the others are NULL at the start. */
const COLUMNS = {
  namespace_id: 'text',
  callback_id: 'text',
  run_id: 'text',
  request_id: 'text',
  destination_id: 'bigint',
  attempt: 'integer',
  transition_count: 'bigint',
  created_at: 'bigint',
  deadline_at: 'bigint',
  next_attempt_at: 'bigint',
  retry_policy: 'text',
  timeout_micros: 'bigint',
  due_at: 'bigint',
} as const satisfies Partial<Record<keyof CallbackRunRow, string>>

const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]
const COLUMN_LIST = sql.join([...NAMES, 'status', 'state', 'sort_at'].map((column) => sql.ref(column)))
const CONSTANTS = sql.join(
  [STATUS_NUMBERS.RUNNING, STATE_NUMBERS.SCHEDULED, RUNNING_SORT_AT].map((value) => sql.lit(value)),
)

type NewRow = Pick<CallbackRunRow, keyof typeof COLUMNS>
type LatestRow = Pick<CallbackRunRow, 'run_id' | 'request_id' | 'closed_at'>
type InputRow = { callback: Uint8Array; completion: Uint8Array; search_attributes: Uint8Array | null }

/**
 * Starts a run unless the latest one of the id stands in the way; null when the namespace was deleted. On PostgreSQL the transaction must be `read committed`:
 * starts of one id wait for each other, and the later one has to see what was written meanwhile.
 */
export async function insertRun(tx: Transaction, start: RunStart): Promise<StartAnswer | null> {
  const row = newRow(start)
  const input = {
    callback: start.callback,
    completion: start.completion,
    search_attributes: start.searchAttributes,
  }
  const answer = tx.engine === 'sqlite' ? await insertInSqlite(tx, row, input) : await insertInPostgres(tx, row, input)
  if (typeof answer !== 'number') return answer
  if (start.attributes.length > 0) await insertAttributes(tx, answer, start.attributes)
  const { namespaceId, callbackId, runId, requestId, destinationId, timeoutMicros, record } = start
  return {
    kind: 'started',
    run: { runNumber: answer, namespaceId, callbackId, runId, requestId, destinationId, timeoutMicros, record },
  }
}

function newRow({ record, ...start }: RunStart): NewRow {
  return {
    namespace_id: start.namespaceId,
    callback_id: start.callbackId,
    run_id: start.runId,
    request_id: start.requestId,
    destination_id: start.destinationId,
    attempt: record.attempt,
    transition_count: record.transitionCount,
    created_at: record.createdAt,
    deadline_at: record.deadlineAt,
    next_attempt_at: record.nextAttemptAt,
    retry_policy: record.retryPolicy === null ? null : JSON.stringify(record.retryPolicy),
    timeout_micros: start.timeoutMicros,
    due_at: start.dueAt,
  }
}

function obstacle(latest: LatestRow | undefined, requestId: string): Exclude<StartAnswer, { kind: 'started' }> | null {
  if (latest === undefined) return null
  if (latest.request_id === requestId) return { kind: 'same', runId: latest.run_id }
  return latest.closed_at === null ? { kind: 'conflict', runId: latest.run_id, requestId: latest.request_id } : null
}

// Mostly no row at all, which costs least. One of nulls says that the namespace was deleted.
const latestRow = statement<Pick<NewRow, 'namespace_id' | 'callback_id'>, LatestRow | { run_id: null }>(
  (_query, p) => sql`
    select * from (
      select run_id, request_id, closed_at from callback_runs
      where namespace_id = ${p('namespace_id')} and callback_id = ${p('callback_id')}
      order by run_number desc limit 1
    )
    union all select null, null, null where not ${isLive(p('namespace_id'))}`,
)

const insertRow = statement<NewRow>(
  (_query, p) => sql`
    insert into callback_runs (${COLUMN_LIST})
    values (${sql.join(NAMES.map((column) => sql.val(p(column))))}, ${CONSTANTS})`,
)

const insertInput = statement<InputRow & { run_number: number }>(
  (_query, p) => sql`
    insert into callback_inputs (run_number, search_attributes, callback, completion)
    values (${p('run_number')}, ${p('search_attributes')}, ${p('callback')}, ${p('completion')})`,
)

async function insertInSqlite(tx: Transaction, row: NewRow, input: InputRow) {
  const [latest, gone] = await tx.run(latestRow, row)
  if (latest?.run_id === null || gone !== undefined) return null
  const found = obstacle(latest, row.request_id)
  if (found !== null) return found
  const number = await tx.insert(insertRow, row)
  await tx.change(insertInput, { ...input, run_number: number })
  return number
}

// Any number that nothing else locks by; the second one is the callback.
const STARTS = 1_667_394_147

const lockCallback = statement<Pick<NewRow, 'namespace_id' | 'callback_id'>, { locked: unknown }>(
  (_query, p) => sql`
    select ${startLock(p('namespace_id'))} as live,
      pg_advisory_xact_lock(${sql.lit(STARTS)}, hashtext(${p('namespace_id')}::text || ${p('callback_id')}::text)) as locked`,
)

type InsertAnswer = { run_number: number | null; live: boolean } & (LatestRow | { run_id: null })

/** One round trip: the look at namespace and latest run, the run and its input. */
const insertUnlessBlocked = statement<NewRow & InputRow, InsertAnswer>(
  (_query, p) => sql`
    with latest as (
      select run_id, request_id, closed_at from callback_runs
      where namespace_id = ${p('namespace_id')} and callback_id = ${p('callback_id')}
      order by run_number desc limit 1
    ), namespace as materialized (
      select ${isLive(p('namespace_id'))} as live
    ), inserted as (
      insert into callback_runs (${COLUMN_LIST})
      select ${sql.join(NAMES.map((column) => sql`${p(column)}::${sql.raw(COLUMNS[column])}`))}, ${CONSTANTS}
      from namespace
      where live and not exists (select 1 from latest where closed_at is null or request_id = ${p('request_id')})
      on conflict (namespace_id, callback_id) where closed_at is null do nothing
      returning run_number
    ), input as (
      insert into callback_inputs (run_number, search_attributes, callback, completion)
      select run_number, ${p('search_attributes')}::bytea, ${p('callback')}::bytea, ${p('completion')}::bytea from inserted
    )
    select inserted.run_number, live, latest.run_id, latest.request_id, latest.closed_at
    from namespace left join inserted on true left join latest on true`,
)

async function insertInPostgres(tx: Transaction, row: NewRow, input: InputRow) {
  await tx.run(lockCallback, row)
  const [answer] = await tx.run(insertUnlessBlocked, { ...row, ...input })
  if (answer?.run_number != null) return answer.run_number
  if (answer?.live === false) return null
  const found = answer?.run_id ? obstacle(answer, row.request_id) : null
  if (found !== null) return found
  throw new AppError('aborted', 'Another request started the same callback at this moment: repeat the request')
}

const insertAttribute = statement<AttributeRow & { run_number: number; place: number }>((query, p) =>
  query.insertInto('callback_attributes').values({
    run_number: p('run_number'),
    name: p('name'),
    place: p('place'),
    type: p('type'),
    text_value: p('text_value'),
    number_value: p('number_value'),
  }),
)

const insertAttributeRows = statement<{ runNumber: number; rows: string }>(
  (_query, p) => sql`
    insert into callback_attributes (run_number, name, place, type, text_value, number_value)
    select ${p('runNumber')}::bigint, name, place, type, text_value, number_value
    from json_to_recordset(${p('rows')}::json)
      as rows (name text, place integer, type text, text_value text, number_value numeric)`,
)

async function insertAttributes(tx: Transaction, runNumber: number, rows: readonly AttributeRow[]): Promise<void> {
  const placed = rows.map((row, place) => ({ ...row, run_number: runNumber, place }))
  if (tx.engine === 'sqlite') return tx.changeEach(insertAttribute, placed)
  // As text: a JSON number would lose the last digits of 64 bits.
  const exact = placed.map((row) => ({
    ...row,
    number_value: row.number_value === null ? null : `${row.number_value}`,
  }))
  await tx.change(insertAttributeRows, { runNumber, rows: JSON.stringify(exact) })
}
