import { sql } from 'kysely'
import { statement } from '../../platform/storage/statement.ts'
import { latestNews } from '../destination/store-destinations.ts'
import { changedRow } from './changed-row.ts'
import type { Settlement } from './run.ts'
import { ATTEMPT_COLUMNS, attemptRow, KEPT_ATTEMPTS } from './store-attempts.ts'

const KEPT = sql.lit(KEPT_ATTEMPTS)

const COLUMNS = {
  run_number: 'bigint',
  destination_id: 'bigint',
  expected_count: 'bigint',
  held_by: 'text',
  unleased_at: 'bigint',
  status: 'smallint',
  state: 'smallint',
  attempt: 'integer',
  transition_count: 'bigint',
  next_attempt_at: 'bigint',
  last_attempt_completed_at: 'bigint',
  closed_at: 'bigint',
  terminate_request_id: 'text',
  due_at: 'bigint',
  last_attempt: 'text',
  terminal: 'text',
  succeeded: 'boolean',
  started_at: 'bigint',
  ended_at: 'bigint',
  outcome: 'text',
  status_code: 'integer',
  error_type: 'text',
  message: 'text',
  response_snippet: 'text',
  address: 'text',
} as const

/** What is absent is null. */
type GivenRow = { run_number: number } & Partial<
  Record<keyof typeof COLUMNS, string | number | boolean | null | undefined>
>

/**
 * PostgreSQL is far away: all that follows from the rows that are still as they were read is one statement. Destinations
 * are locked in one order, so that two who tell of the same ones wait for each other in one direction.
 */
export const changeAtOnce = statement<{ rows: string }, { run_number: number }>(
  (_query, p) => sql`
    with given as materialized (
      select * from json_to_recordset(${p('rows')}::json) as g (${sql.raw(
        Object.entries(COLUMNS)
          .map(([name, type]) => `${name} ${type}`)
          .join(', '),
      )})
    ), changed as (
      update callback_runs as r set
        status = g.status, state = g.state, attempt = g.attempt, transition_count = g.transition_count,
        next_attempt_at = g.next_attempt_at, last_attempt_completed_at = g.last_attempt_completed_at,
        closed_at = g.closed_at, terminate_request_id = g.terminate_request_id, due_at = g.due_at,
        lease_owner = null, sort_at = coalesce(g.closed_at, r.sort_at)
      from given g
      where r.run_number = g.run_number and r.transition_count = g.expected_count
        and (g.held_by is null or r.lease_owner = g.held_by)
        and (g.unleased_at is null or r.lease_owner is null or r.due_at <= g.unleased_at)
      returning g.*
    ), failures as (
      insert into callback_failures (run_number, last_attempt, terminal)
      select run_number, last_attempt, terminal from changed where last_attempt is not null or terminal is not null
      on conflict (run_number) do update set
        last_attempt = coalesce(excluded.last_attempt, callback_failures.last_attempt),
        terminal = coalesce(excluded.terminal, callback_failures.terminal)
    ), attempts as (
      insert into callback_attempts (${ATTEMPT_COLUMNS}) select ${ATTEMPT_COLUMNS} from changed where started_at is not null
    ), old as (
      delete from callback_attempts a using changed c
      where c.attempt > ${KEPT} and c.started_at is not null
        and a.run_number = c.run_number and a.attempt <= c.attempt - ${KEPT}
    ), news as (
      select destination_id as id, max(ended_at) filter (where succeeded) as success_at,
        max(ended_at) filter (where not succeeded) as failure_at,
        (array_agg(message order by ended_at desc) filter (where not succeeded))[1] as message
      from changed where started_at is not null group by destination_id
    ), locked as (
      select d.id from callback_destinations d where d.id in (select id from news) order by d.id for update
    ), told as (
      update callback_destinations d set ${latestNews(sql`n.success_at`, sql`n.failure_at`, sql`n.message`)}
      from news n join locked l on l.id = n.id where d.id = n.id
    )
    select run_number from changed`,
)

/** In one order everywhere, so that two of these that meet wait for each other in one direction. */
export function givenRows(settlements: readonly Settlement[]): string {
  return JSON.stringify(settlements.map(givenRow).sort((a, b) => a.run_number - b.run_number))
}

function givenRow(settlement: Settlement): GivenRow {
  const { run, changed, leaseOwner, unleasedAt, attempt } = settlement
  const { record, failures, transition } = changed
  return {
    ...changedRow(settlement),
    destination_id: run.destinationId,
    held_by: leaseOwner,
    unleased_at: unleasedAt,
    last_attempt: failures.lastAttempt && JSON.stringify(failures.lastAttempt),
    terminal: failures.terminal && JSON.stringify(failures.terminal),
    ...(attempt !== null && {
      ...attemptRow(run.runNumber, record.attempt, attempt),
      succeeded: transition === 'succeed',
    }),
  }
}
