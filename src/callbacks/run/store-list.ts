import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import { comparisonsOf } from '../query/comparisons-of.ts'
import { type RunColumns, whereCondition } from '../query/store-query.ts'
import { type RunStatus, STATUS_NUMBERS } from '../state/run-state.ts'
import '../tables.ts'
import type { ListKey, ListQuery } from './list-query.ts'
import { askInParts, behind } from './store-list-parts.ts'
import { isOfIds, whereListed } from './store-list-range.ts'

/** What queries ask about, of the run `r`. */
export const LISTED_COLUMNS: RunColumns = {
  runNumber: 'r.run_number',
  status: 'r.status',
  callbackId: 'r.callback_id',
  runId: 'r.run_id',
  createdAt: 'r.created_at',
  closedAt: 'r.closed_at',
  transitionCount: 'r.transition_count',
  statuses: {
    Running: STATUS_NUMBERS.RUNNING,
    Succeeded: STATUS_NUMBERS.SUCCEEDED,
    Failed: STATUS_NUMBERS.FAILED,
    Terminated: STATUS_NUMBERS.TERMINATED,
  },
}

const STATUSES = Object.keys(STATUS_NUMBERS) as RunStatus[]

export interface ListedRun {
  readonly runNumber: number
  readonly callbackId: string
  readonly runId: string
  readonly status: RunStatus
  readonly createdAt: Micros
  readonly closedAt: Micros | null
  readonly transitionCount: number
  /** To go on behind it. */
  readonly key: ListKey
}

interface ListRow {
  run_number: number
  callback_id: string
  run_id: string
  status: number
  created_at: Micros
  closed_at: Micros | null
  transition_count: number
  sort_at: Micros
}

/**
 * Runs that the condition finds, in the order of lists, those behind `after`. Ask for one more to know whether more follow.
 * SQLite may be asked several times: what it answers is one state of the data in a snapshot only.
 */
export async function listRuns(
  reader: Reader,
  query: ListQuery,
  { after, limit }: { after: ListKey | null; limit: number },
): Promise<ListedRun[]> {
  // With a sign before it the order is not that of an index, and SQLite looks for the ids instead.
  const sortAt = isOfIds(query.condition) ? sql`+r.sort_at` : sql`r.sort_at`
  const where = whereFound(reader.engine, query)
  const select = (which: RawBuilder<boolean>) => sql<ListRow>`
    select r.run_number, r.callback_id, r.run_id, r.status, r.created_at, r.closed_at, r.transition_count, r.sort_at
    from callback_runs r
    where ${where} and ${which}
    order by ${sortAt} desc, r.created_at desc, r.run_id
    limit ${unplanned(reader.engine, limit)}`
  const rows = await firstOf(reader, query, { after, limit }, select)
  return rows.map((row) => ({
    runNumber: row.run_number,
    callbackId: row.callback_id,
    runId: row.run_id,
    status: STATUSES[row.status - 1] as RunStatus,
    createdAt: row.created_at,
    closedAt: row.closed_at,
    transitionCount: row.transition_count,
    key: { sortAt: row.sort_at, createdAt: row.created_at, runId: row.run_id },
  }))
}

/** How many runs of each status the condition finds; none is left out. The same holds for SQLite. */
export async function countRuns(reader: Reader, query: ListQuery): Promise<Map<RunStatus, number>> {
  // Not by groups: for those SQLite would sort all of them.
  const counts = STATUSES.map(
    (status) =>
      sql`count(*) filter (where r.status = ${sql.lit(STATUS_NUMBERS[status])}) as ${sql.ref(status.toLowerCase())}`,
  )
  const where = whereFound(reader.engine, query)
  const select = (which: RawBuilder<boolean>) => sql<Record<string, number>>`
    select ${sql.join(counts)} from callback_runs r where ${where} and ${which}`
  const sums = new Map(STATUSES.map((status) => [status, 0]))
  for await (const [row] of askInParts(reader, query, null, select)) {
    for (const [status, sum] of sums) sums.set(status, sum + (row?.[status.toLowerCase()] ?? 0))
  }
  return sums
}

async function firstOf(
  reader: Reader,
  query: ListQuery,
  { after, limit }: { after: ListKey | null; limit: number },
  select: (which: RawBuilder<boolean>) => RawBuilder<ListRow>,
): Promise<ListRow[]> {
  // Of everything the first ones are found at once.
  if (query.condition === null) return (await select(behind(after)).execute(reader.query)).rows
  const rows: ListRow[] = []
  for await (const found of askInParts(reader, query, after, select)) {
    rows.push(...found.slice(0, limit - rows.length))
    if (rows.length === limit) break
  }
  return rows
}

// Measured on SQLite: the time for a plan grows with the third power, to a second for some hundred comparisons of one column.
const MOST_PLANNED = 20

function whereFound(engine: Engine, { namespaceId, condition }: ListQuery): RawBuilder<boolean> {
  const isLong = engine === 'sqlite' && condition !== null && comparisonsOf(condition) > MOST_PLANNED
  return sql`r.namespace_id = ${namespaceId} and ${whereListed(engine, condition)}
    and ${whereCondition(engine, LISTED_COLUMNS, condition, !isLong || isOfIds(condition))}`
}

const attributeSizes = statement<{ runNumbers: string }, { run_number: number; bytes: number }>(
  (_query, p, engine) => sql`
    select run_number, length(search_attributes) as bytes from callback_inputs
    where search_attributes is not null and run_number in ${numbersIn(engine, p('runNumbers'))}`,
)

/** How long the search attributes of these runs are, by their numbers, without reading them; none where there are none. */
export async function attributeBytes(reader: Reader, runs: readonly ListedRun[]): Promise<Map<number, number>> {
  if (runs.length === 0) return new Map()
  const found = await reader.run(attributeSizes, { runNumbers: numbersOf(runs) })
  return new Map(found.map((row) => [row.run_number, row.bytes]))
}

const attributesOfRuns = statement<{ runNumbers: string }, { run_number: number; search_attributes: Uint8Array }>(
  (_query, p, engine) => sql`
    select run_number, search_attributes from callback_inputs
    where search_attributes is not null and run_number in ${numbersIn(engine, p('runNumbers'))}`,
)

/** The same as they were given. Apart from the list, which must not read inputs of rows that it drops again. */
export async function attributesOf(reader: Reader, runs: readonly ListedRun[]): Promise<Map<number, Uint8Array>> {
  if (runs.length === 0) return new Map()
  const found = await reader.run(attributesOfRuns, { runNumbers: numbersOf(runs) })
  return new Map(found.map((row) => [row.run_number, row.search_attributes]))
}

function numbersOf(runs: readonly ListedRun[]): string {
  return JSON.stringify(runs.map(({ runNumber }) => runNumber))
}
