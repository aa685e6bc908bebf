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

/** Looked at in one step: all of them may be many, and on SQLite everybody else waits for a look. */
const LOOKED_AT = 1_000

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
      order by run_number desc limit ${sql.lit(LOOKED_AT)}
    ) w left join callback_runs r on r.run_number = w.run_number
    order by w.run_number desc`,
)

export interface Freed {
  readonly runNumbers: number[]
  /** The last one that was looked at: what follows is older. Null when that was the oldest one. */
  readonly end: number | null
}

/** Some of those with lower numbers than `before`: the latest one of each callback that is not running now, at most `limit`. */
export async function findFreed(reader: Reader, replayId: ReplayId, before: number, limit: number): Promise<Freed> {
  const rows = await reader.run(nextWaiting, { replayId, before })
  const freed = new Map<string, number>()
  for (const { run_number, callback_id, latest_closed_at } of rows) {
    if (callback_id === null || latest_closed_at === null || freed.has(callback_id)) continue
    freed.set(callback_id, run_number)
    if (freed.size === limit) return { runNumbers: [...freed.values()], end: run_number }
  }
  const end = rows.length < LOOKED_AT ? null : (rows.at(-1)?.run_number ?? null)
  return { runNumbers: [...freed.values()], end }
}

/** Whether one waits that is still there. */
export async function hasWaiting(reader: Reader, replayId: ReplayId): Promise<boolean> {
  const row = await reader.query
    .selectFrom('callback_waiting_replays as w')
    .innerJoin('callback_runs as r', 'r.run_number', 'w.run_number')
    .select('w.run_number')
    .where('w.replay_id', '=', replayId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** How many wait that are still there. */
export async function countWaiting(reader: Reader, replayId: ReplayId): Promise<number> {
  const row = await reader.query
    .selectFrom('callback_waiting_replays as w')
    .innerJoin('callback_runs as r', 'r.run_number', 'w.run_number')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('w.replay_id', '=', replayId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

const removeSome = statement<{ replayId: ReplayId; runNumbers: string }>(
  (_query, p, engine) => sql`
    delete from callback_waiting_replays
    where replay_id = ${p('replayId')} and run_number in ${numbersIn(engine, p('runNumbers'))}`,
)

export async function removeWaiting(tx: Transaction, replayId: ReplayId, runNumbers: readonly number[]): Promise<void> {
  if (runNumbers.length > 0) await tx.change(removeSome, { replayId, runNumbers: JSON.stringify(runNumbers) })
}

export async function removeAllWaiting(tx: Transaction, replayId: ReplayId): Promise<void> {
  await tx.query.deleteFrom('callback_waiting_replays').where('replay_id', '=', replayId).execute()
}

/** Those of replays that are gone. */
export async function deleteStrayWaiting(tx: Transaction): Promise<void> {
  await tx.query
    .deleteFrom('callback_waiting_replays')
    .where('replay_id', 'not in', (eb) => eb.selectFrom('callback_replays').select('callback_replays.id'))
    .execute()
}
