import { type Selectable, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { RunInput, StoredRun } from '../run/run.ts'
import { RUN_COLUMNS, RUNNING_SORT_AT, type RunRow, storedRun } from '../run/store-runs.ts'
import type { CallbackInputsTable, CallbackReplaysTable } from '../tables.ts'

export type ReplayId = Id<'Replay'>

/** The runs that were there, and closed, at one moment. */
export interface ReplayBounds {
  readonly closedUntil: Micros
  readonly runNumberUntil: number
}

/** The replay of many runs. */
export interface Replay extends ReplayBounds {
  readonly id: ReplayId
  readonly namespaceId: Id<'Namespace'>
  readonly requestId: string
  readonly query: string
  /** Name to type: those that the query may name, as they were declared when it was asked for. */
  readonly searchAttributes: Readonly<Record<string, string>>
  readonly matched: number
  readonly started: number
  readonly failed: number
  readonly createdAt: Micros
  readonly finishedAt: Micros | null
}

type Row = Selectable<CallbackReplaysTable>

/** False when the request is known already. */
export async function insertReplay(tx: Transaction, replay: Replay): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('callback_replays')
    .values({
      id: replay.id,
      namespace_id: replay.namespaceId,
      request_id: replay.requestId,
      query: replay.query,
      search_attributes: JSON.stringify(replay.searchAttributes),
      closed_until: replay.closedUntil,
      run_number_until: replay.runNumberUntil,
      matched: replay.matched,
      started: replay.started,
      failed: replay.failed,
      created_at: replay.createdAt,
      finished_at: replay.finishedAt,
    })
    .onConflict((conflict) => conflict.columns(['namespace_id', 'request_id']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function findReplay(reader: Reader, id: ReplayId): Promise<Replay | undefined> {
  const row = await reader.query.selectFrom('callback_replays').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toReplay(row)
}

export async function findReplayByRequest(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  requestId: string,
): Promise<Replay | undefined> {
  const row = await reader.query
    .selectFrom('callback_replays')
    .selectAll()
    .where('namespace_id', '=', namespaceId)
    .where('request_id', '=', requestId)
    .executeTakeFirst()
  return row && toReplay(row)
}

/** Adds to the counts. `finishedAt`: null while it goes on. */
export async function addReplayProgress(
  tx: Transaction,
  id: ReplayId,
  { started, failed, finishedAt }: Pick<Replay, 'started' | 'failed' | 'finishedAt'>,
): Promise<void> {
  await tx.query
    .updateTable('callback_replays')
    .set((eb) => ({
      started: eb('started', '+', started),
      failed: eb('failed', '+', failed),
      finished_at: finishedAt,
    }))
    .where('id', '=', id)
    .execute()
}

const newestClosed = statement<{ namespaceId: Id<'Namespace'> }, { at: Micros | null }>(
  (_query, p) => sql`
    select max(sort_at) as at from callback_runs
    where namespace_id = ${p('namespaceId')} and sort_at < ${sql.lit(RUNNING_SORT_AT)}`,
)

const lastNumber = statement<object, { number: number | null }>(
  () => sql`select max(run_number) as number from callback_runs`,
)

/**
 * What is closed now, by what the data say: a run whose end is being written has an earlier time than ours, and was not counted. What a
 * replay starts may have a time that is over, so numbers bound it as well.
 */
export async function replayBounds(reader: Reader, namespaceId: Id<'Namespace'>): Promise<ReplayBounds> {
  const [closed] = await reader.run(newestClosed, { namespaceId })
  const [last] = await reader.run(lastNumber, {})
  return { closedUntil: closed?.at ?? 0, runNumberUntil: last?.number ?? 0 }
}

type SourceRow = RunRow & Omit<CallbackInputsTable, 'run_number'>

const closedRuns = statement<{ runNumbers: string }, SourceRow>(
  (_query, p, engine) => sql`
    select ${RUN_COLUMNS}, i.callback, i.completion, i.search_attributes
    from callback_runs r join callback_inputs i on i.run_number = r.run_number
    where r.run_number in ${numbersIn(engine, p('runNumbers'))} and r.closed_at is not null`,
)

/** A run that is closed, and what it was given to do. */
export interface ReplaySource {
  readonly run: StoredRun
  readonly input: RunInput
}

/** By their numbers; one that is gone is not among them. */
export async function findReplaySources(
  reader: Reader,
  runNumbers: readonly number[],
): Promise<Map<number, ReplaySource>> {
  const rows = await reader.run(closedRuns, { runNumbers: JSON.stringify(runNumbers) })
  return new Map(
    rows.map((row) => {
      const input = { callback: row.callback, completion: row.completion, searchAttributes: row.search_attributes }
      return [row.run_number, { run: storedRun(row), input }]
    }),
  )
}

const copyRows = statement<{ from: number; to: number }>(
  (_query, p, engine) => sql`
    insert into callback_attributes (run_number, name, place, type, text_value, number_value)
    select ${engine === 'sqlite' ? sql`${p('to')}` : sql`${p('to')}::bigint`}, name, place, type, text_value, number_value
    from callback_attributes where run_number = ${p('from')}`,
)

/** What one run is found by, for another: also by attributes that are not declared any more. */
export async function copyAttributes(tx: Transaction, from: number, to: number): Promise<void> {
  await tx.change(copyRows, { from, to })
}

/** Deleted in one step. */
const AT_ONCE = 500

/** Some of those asked for before the time; 0 when none is left. Whatever they could still have started closed before it, too. */
export async function deleteReplays(tx: Transaction, namespaceId: Id<'Namespace'>, before: Micros): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('callback_replays')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('callback_replays')
        .select('id')
        .where('namespace_id', '=', namespaceId)
        .where('created_at', '<', before)
        .limit(sql.lit(AT_ONCE)),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Some of those of namespaces that are gone; 0 when none is left. */
export async function deleteStrayReplays(tx: Transaction): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('callback_replays')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('callback_replays')
        .select('id')
        .where('namespace_id', 'not in', (some) => some.selectFrom('namespaces').select('namespaces.id'))
        .limit(sql.lit(AT_ONCE)),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

function toReplay(row: Row): Replay {
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    requestId: row.request_id,
    query: row.query,
    searchAttributes: JSON.parse(row.search_attributes) as Record<string, string>,
    closedUntil: row.closed_until,
    runNumberUntil: row.run_number_until,
    matched: row.matched,
    started: row.started,
    failed: row.failed,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}
