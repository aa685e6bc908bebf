import { sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { STATE_NUMBERS } from '../state/run-state.ts'

/** Counting ends here: a metric must not cost more the worse things are. */
export const COUNTED_RUNS = 10_000
const MOST_DESTINATIONS = 10_000

const SCHEDULED = sql.lit(STATE_NUMBERS.SCHEDULED)
const BACKING_OFF = sql.lit(STATE_NUMBERS.BACKING_OFF)
const MOST = sql.lit(COUNTED_RUNS)

// The second half of each condition says nothing, but names the column that the index begins with.
const running = statement<object, RunningCounts>(
  () => sql`
    select
      (select count(*) from (
        select 1 from callback_runs where state = ${SCHEDULED} and destination_id > 0 limit ${MOST}
      ) as counted) as scheduled,
      (select count(*) from (
        select 1 from callback_runs where state = ${BACKING_OFF} and due_at > 0 limit ${MOST}
      ) as counted) as "backingOff"`,
)

export interface RunningCounts {
  scheduled: number
  backingOff: number
}

/** How many runs of all namespaces are in each of these states, each counted to COUNTED_RUNS at most. */
export async function runningCounts(reader: Reader): Promise<RunningCounts> {
  const [{ scheduled, backingOff } = { scheduled: 0, backingOff: 0 }] = await reader.run(running, {})
  return { scheduled, backingOff }
}

// From one destination to the next, each found by one look, as the dispatcher does it.
const firstDue = statement<object, { at: Micros | null }>(
  () => sql`
    with recursive waiting (id, place) as (
      select (select destination_id from callback_runs where state = ${SCHEDULED} and destination_id > 0
        order by destination_id limit 1), 1
      union all
      select (select destination_id from callback_runs where state = ${SCHEDULED} and destination_id > waiting.id
        order by destination_id limit 1), waiting.place + 1
      from waiting where waiting.id is not null and waiting.place < ${sql.lit(MOST_DESTINATIONS)}
    )
    select min(at) as at from (
      select (select r.due_at from callback_runs r where r.state = ${SCHEDULED} and r.destination_id = waiting.id
        order by r.due_at limit 1) as at
      from waiting where waiting.id is not null
      union all
      select (select due_at from callback_runs where state = ${BACKING_OFF} and due_at > 0 order by due_at limit 1)
    ) as times`,
)

/** When the first of all attempts is due, or was; null when none is to come. */
export async function firstDueAt(reader: Reader): Promise<Micros | null> {
  const [row] = await reader.run(firstDue, {})
  return row?.at ?? null
}
