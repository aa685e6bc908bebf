import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import type { ReplayId } from './store-replays.ts'

export async function insertWaiting(tx: Transaction, replayId: ReplayId, runNumbers: readonly number[]): Promise<void> {
  if (runNumbers.length === 0) return
  const rows = runNumbers.map((runNumber) => ({ replay_id: replayId, run_number: runNumber }))
  await tx.query.insertInto('callback_waiting_replays').values(rows).execute()
}

/** Looked at, or taken away, in one step: all of them may be many, and on SQLite everybody else waits for a step. */
const AT_ONCE = 1_000

interface WaitingRow {
  run_number: number
  /** Null when the run is gone. */
  callback_id: string | null
  /** When the latest run of the callback closed; null while that is running. */
  latest_closed_at: number | null
}

const nextWaiting = statement<{ replayId: ReplayId; before: number }, WaitingRow>(
  (_query, p) => sql`
    select w.run_number, r.callback_id, (
      select latest.closed_at from callback_runs latest
      where latest.namespace_id = r.namespace_id and latest.callback_id = r.callback_id
      order by latest.run_number desc limit 1
    ) as latest_closed_at
    from (
      select run_number from callback_waiting_replays
      where replay_id = ${p('replayId')} and run_number < ${p('before')}
      order by run_number desc limit ${sql.lit(AT_ONCE)}
    ) w left join callback_runs r on r.run_number = w.run_number
    order by w.run_number desc`,
)

export interface Freed {
  readonly runNumbers: number[]
  /** Runs that are not there any more, of those that were looked at. */
  readonly gone: number[]
  /** The last one that was looked at: what follows is older. Null when that was the oldest one. */
  readonly end: number | null
}

/** Some of those with lower numbers than `before`: the latest one of each callback that is not running now, at most `limit`. */
export async function findFreed(reader: Reader, replayId: ReplayId, before: number, limit: number): Promise<Freed> {
  const rows = await reader.run(nextWaiting, { replayId, before })
  const freed = new Map<string, number>()
  const gone: number[] = []
  for (const { run_number, callback_id, latest_closed_at } of rows) {
    if (callback_id === null) gone.push(run_number)
    else if (latest_closed_at !== null && !freed.has(callback_id)) freed.set(callback_id, run_number)
    if (freed.size === limit) return { runNumbers: [...freed.values()], gone, end: run_number }
  }
  const end = rows.length < AT_ONCE ? null : (rows.at(-1)?.run_number ?? null)
  return { runNumbers: [...freed.values()], gone, end }
}

export async function hasWaiting(reader: Reader, replayId: ReplayId): Promise<boolean> {
  const row = await reader.query
    .selectFrom('callback_waiting_replays')
    .select('run_number')
    .where('replay_id', '=', replayId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const removeSome = statement<{ replayId: ReplayId; runNumbers: string }>(
  (_query, p, engine) => sql`
    delete from callback_waiting_replays
    where replay_id = ${p('replayId')} and run_number in ${numbersIn(engine, p('runNumbers'))}`,
)

export async function removeWaiting(tx: Transaction, replayId: ReplayId, runNumbers: readonly number[]): Promise<void> {
  if (runNumbers.length > 0) await tx.change(removeSome, { replayId, runNumbers: JSON.stringify(runNumbers) })
}

const firstWaiting = statement<{ replayId: ReplayId }, { run_number: number; is_there: number | boolean }>(
  (_query, p) => sql`
    select w.run_number, exists (select 1 from callback_runs r where r.run_number = w.run_number) as is_there
    from (
      select run_number from callback_waiting_replays
      where replay_id = ${p('replayId')} order by run_number limit ${sql.lit(AT_ONCE)}
    ) w`,
)

export interface RemovedWaiting {
  /** How many of their runs are still there. */
  readonly givenUp: number
  readonly isLast: boolean
}

/** Takes some of those that wait away. */
export async function removeSomeWaiting(tx: Transaction, replayId: ReplayId): Promise<RemovedWaiting> {
  const rows = await tx.run(firstWaiting, { replayId })
  await removeWaiting(
    tx,
    replayId,
    rows.map((row) => row.run_number),
  )
  return { givenUp: rows.filter((row) => row.is_there).length, isLast: rows.length < AT_ONCE }
}

// From one replay to the next, each found by one look, however many runs wait for it.
const strayReplays = statement<object, { id: ReplayId }>(
  () => sql`
    with recursive waiting (id) as (
      select min(replay_id) from callback_waiting_replays
      union all
      select (select min(w.replay_id) from callback_waiting_replays w where w.replay_id > waiting.id)
      from waiting where waiting.id is not null
    )
    select id from waiting
    where id is not null and not exists (select 1 from callback_replays r where r.id = waiting.id)`,
)

/** Replays that are gone, for which some still wait. */
export async function strayWaiting(reader: Reader): Promise<ReplayId[]> {
  return (await reader.run(strayReplays, {})).map(({ id }) => id)
}
