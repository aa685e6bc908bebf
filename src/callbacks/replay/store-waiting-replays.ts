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

const freed = statement<{ replayId: ReplayId; limit: number }, { run_number: number }>(
  (_query, p) => sql`
    select max(w.run_number) as run_number
    from callback_waiting_replays w join callback_runs r on r.run_number = w.run_number
    where w.replay_id = ${p('replayId')} and (
      select latest.closed_at from callback_runs latest
      where latest.namespace_id = r.namespace_id and latest.callback_id = r.callback_id
      order by latest.run_number desc limit 1
    ) is not null
    group by r.namespace_id, r.callback_id
    order by 1 desc
    limit ${p('limit')}`,
)

/** The latest one of each callback that is not running now. */
export async function findFreed(reader: Reader, replayId: ReplayId, limit: number): Promise<number[]> {
  return (await reader.run(freed, { replayId, limit })).map((row) => row.run_number)
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
