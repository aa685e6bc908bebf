import { type RawBuilder, sql } from 'kysely'
import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import { SMALL_INPUT_BYTES, type StoredRun, type WaitingRun } from '../run/run.ts'
import { RUN_COLUMNS, type RunRow, storedRun } from '../run/store-runs.ts'
import { STATE_NUMBERS } from '../state/run-state.ts'

// States are literals: SQLite uses a partial index only when the text of the query proves that it may.
const SCHEDULED = sql.lit(STATE_NUMBERS.SCHEDULED)
const BACKING_OFF = sql.lit(STATE_NUMBERS.BACKING_OFF)
// Word for word the condition of the index. Other runs that are SCHEDULED are due since they became so.
const WAITS_FOR_TIME = sql`state = ${SCHEDULED} and (next_attempt_at is not null or lease_owner is not null)`

// From one destination to the next, each found by one look: however many runs wait at one of them, it is one step.
function waitingBehind(after: RawBuilder<unknown>) {
  const next = (behind: RawBuilder<unknown>) => sql`
    (select destination_id from callback_runs
      where state = ${SCHEDULED} and destination_id > ${behind} order by destination_id limit 1)`
  return sql`
    with recursive waiting (id) as (
      select ${next(after)}
      union all
      select ${next(sql`waiting.id`)} from waiting where waiting.id is not null
    )`
}

// Not with `exists`, which PostgreSQL turns into a join with all that is due.
const dueDestinations = statement<{ after: number; now: Micros; limit: number }, { id: number }>(
  (_query, p) => sql`
    ${waitingBehind(sql`${p('after')}`)}
    select waiting.id from waiting
    where waiting.id is not null and ${p('now')} >= (
      select r.due_at from callback_runs r where r.state = ${SCHEDULED} and r.destination_id = waiting.id
      order by r.due_at limit 1
    )
    limit ${p('limit')}`,
)

/** Destinations behind `after` at which the attempt of a run is due, in the order of their numbers. */
export async function destinationsDue(reader: Reader, after: number, limit: number, now: Micros): Promise<number[]> {
  const rows = await reader.run(dueDestinations, { after, now, limit })
  return rows.map(({ id }) => id)
}

export interface TakeDue {
  readonly destinationId: number
  readonly now: Micros
  readonly limit: number
  /** PostgreSQL: until when they are nobody else's. */
  readonly leaseUntil: Micros
  readonly owner: string
  /** Numbers of runs that this process has in hand already. */
  readonly exclude: readonly number[]
  /** This run or none. */
  readonly only?: number
}

type DueRow = RunRow & {
  callback?: Uint8Array | null
  completion?: Uint8Array | null
  completion_bytes?: number
}
type DueInput = Omit<TakeDue, 'exclude'> & { exclude: string }

// Small inputs come along: a look of its own for each costs more than they do.
const SMALL_BYTES = sql.lit(SMALL_INPUT_BYTES)
const IS_SMALL = sql`length(i.completion) <= ${SMALL_BYTES} and length(i.callback) <= ${SMALL_BYTES}`
const SMALL_INPUT = sql`
  case when ${IS_SMALL} then i.callback end as callback,
  case when ${IS_SMALL} then i.completion end as completion,
  length(i.completion) as completion_bytes`

const readDue = statement<DueInput, DueRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS}, ${SMALL_INPUT}
    from callback_runs r join callback_inputs i on i.run_number = r.run_number
    where r.state = ${SCHEDULED} and r.destination_id = ${p('destinationId')} and r.due_at <= ${p('now')}
      and r.run_number not in ${numbersIn('sqlite', p('exclude'))}
    order by r.due_at, r.run_number
    limit ${p('limit')}`,
)

const readOne = statement<DueInput & { only: number }, DueRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS} from callback_runs r
    where r.run_number = ${p('only')} and r.state = ${SCHEDULED} and r.due_at <= ${p('now')}`,
)

// The look is a part of its own: it locks its rows once, whatever the plan of the rest is.
function claim(which: RawBuilder<unknown>, input: <K extends 'leaseUntil' | 'owner'>(key: K) => DueInput[K]) {
  return sql`
    with due as materialized (
      select r.run_number, r.due_at from callback_runs r
      where r.state = ${SCHEDULED} and ${which}
      for update skip locked
    ), claimed as (
      update callback_runs r set due_at = ${input('leaseUntil')}, lease_owner = ${input('owner')}
      from due where r.run_number = due.run_number
      returning r.*, due.due_at as was_due_at
    )
    select ${RUN_COLUMNS}, ${SMALL_INPUT}
    from claimed r join callback_inputs i on i.run_number = r.run_number
    order by r.was_due_at, r.run_number`
}

const claimDue = statement<DueInput, DueRow>((_query, p) =>
  claim(
    sql`
      r.destination_id = ${p('destinationId')} and r.due_at <= ${p('now')}
      and r.run_number not in ${numbersIn('postgres', p('exclude'))}
      order by r.due_at, r.run_number limit ${p('limit')}`,
    p,
  ),
)

const claimOne = statement<DueInput & { only: number }, DueRow>((_query, p) =>
  claim(sql`r.run_number = ${p('only')} and r.due_at <= ${p('now')}`, p),
)

/**
 * Runs of one destination whose attempt is due, longest due first. On PostgreSQL they are leased, and no other process gets
 * them until `leaseUntil`; on SQLite this is a look, and who has what is known to the one process.
 */
export async function takeDue(db: Database, { exclude, only, ...wanted }: TakeDue): Promise<WaitingRun[]> {
  const input = { ...wanted, exclude: JSON.stringify(exclude) }
  const isShared = db.engine === 'postgres'
  const take = isShared ? db.writeOne.bind(db) : db.run.bind(db)
  const rows =
    only === undefined
      ? await take(isShared ? claimDue : readDue, input)
      : await take(isShared ? claimOne : readOne, { ...input, only })
  return rows.map(waitingRun)
}

function waitingRun(row: DueRow): WaitingRun {
  const { callback, completion, completion_bytes: completionBytes } = row
  const run = storedRun(row)
  if (completionBytes === undefined) return run
  if (!callback || !completion) return { ...run, completionBytes }
  return { ...run, completionBytes, input: { callback, completion, searchAttributes: null } }
}

/** Where a look at what is due goes on: behind this run. */
export interface DuePlace {
  readonly at: Micros
  readonly runNumber: number
}

export interface Due {
  readonly runs: StoredRun[]
  /** Null when none is left. */
  readonly next: DuePlace | null
}

type DueWanted = DuePlace & { now: Micros; limit: number }
type TimedRow = RunRow & { at: Micros }

const FROM_THE_FIRST: DuePlace = { at: -1, runNumber: 0 }

const dueBackoffs = statement<DueWanted, TimedRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS}, r.due_at as at from callback_runs r
    where r.state = ${BACKING_OFF} and r.due_at <= ${p('now')}
      and (r.due_at, r.run_number) > (${p('at')}, ${p('runNumber')})
    order by r.due_at, r.run_number limit ${p('limit')}`,
)

/** Runs whose time of backing off is over, longest over first. */
export async function backoffsDue(reader: Reader, now: Micros, limit: number, after = FROM_THE_FIRST): Promise<Due> {
  return dueOf(await reader.run(dueBackoffs, { now, limit, ...after }), limit)
}

const dueTimeouts = statement<DueWanted, TimedRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS}, r.deadline_at as at from callback_runs r
    where r.closed_at is null and r.deadline_at is not null and r.deadline_at <= ${p('now')}
      and (r.deadline_at, r.run_number) > (${p('at')}, ${p('runNumber')})
    order by r.deadline_at, r.run_number limit ${p('limit')}`,
)

/** Running ones whose schedule-to-close is over, longest over first. */
export async function timeoutsDue(reader: Reader, now: Micros, limit: number, after = FROM_THE_FIRST): Promise<Due> {
  return dueOf(await reader.run(dueTimeouts, { now, limit, ...after }), limit)
}

function dueOf(rows: readonly TimedRow[], limit: number): Due {
  const last = rows.length < limit ? undefined : rows.at(-1)
  return { runs: rows.map(storedRun), next: last ? { at: last.at, runNumber: last.run_number } : null }
}

const dueDelayed = statement<{ after: Micros; now: Micros }, { id: number }>(
  (_query, p) => sql`
    select distinct destination_id as id from callback_runs
    where ${WAITS_FOR_TIME} and due_at > ${p('after')} and due_at <= ${p('now')}`,
)

/** Destinations with runs whose attempt fell due behind `after` by time alone: it was put off, or a lease ended. */
export async function delayedDue(reader: Reader, after: Micros, now: Micros): Promise<number[]> {
  return (await reader.run(dueDelayed, { after, now })).map(({ id }) => id)
}

const upcoming = statement<{ after: Micros }, { at: Micros | null }>(
  (_query, p) => sql`
    select min(at) as at from (
      select (select due_at from callback_runs where ${WAITS_FOR_TIME} and due_at > ${p('after')} order by due_at limit 1) as at
      union all
      select (select due_at from callback_runs where state = ${BACKING_OFF} and due_at > ${p('after')} order by due_at limit 1)
      union all
      select (select deadline_at from callback_runs where closed_at is null and deadline_at is not null
        order by deadline_at limit 1)
    ) as times`,
)

/**
 * The first time behind `after` at which an attempt falls due, or a backoff or a lease ends; or the first end of a
 * schedule-to-close, which may be over.
 */
export async function nextDue(reader: Reader, after: Micros): Promise<Micros | null> {
  const [row] = await reader.run(upcoming, { after })
  return row?.at ?? null
}

// On SQLite nobody has taken anything before the first look, whatever a dump of another server says.
const clampRows = statement<{ now: Micros }>(
  (_query, p, engine) => sql`
    ${waitingBehind(sql.lit(0))}
    update callback_runs set due_at = ${p('now')}
    where state = ${SCHEDULED} and destination_id in (select id from waiting) and due_at > ${p('now')}
      and next_attempt_at is null ${engine === 'sqlite' ? sql`` : sql`and lease_owner is null`}`,
)

// Few runs are put off for longer, so few are looked at, unless the newest run says that the clock was set back.
const LONG_WAIT = 3_600 * MICROS_PER_SECOND
// By so much the clock may go back while servers run.
const SHORT_WAIT = 60 * MICROS_PER_SECOND

// What was put off anew is due a microsecond behind its time, and so known: for how long it was to wait can no longer be told.
const AS_IT_WAS = sql`due_at = next_attempt_at`

function putOff(now: Micros, time: RawBuilder<unknown>) {
  return sql`next_attempt_at = ${now} + ${time}, due_at = ${now} + ${time} + 1`
}

const BACKOFF = sql`due_at - last_attempt_completed_at`

// Where the attempt ended before the clock was set back. Of one that ended since, the times of its run may still lie ahead.
const clampBackoffs = statement<{ now: Micros; late: Micros }>(
  (_query, p) => sql`
    update callback_runs set ${putOff(p('now'), BACKOFF)}
    where state = ${BACKING_OFF} and due_at > ${p('late')} and last_attempt_completed_at > ${p('now')} and ${BACKOFF} > 0
      and ${AS_IT_WAS}`,
)

const START_DELAY = sql`next_attempt_at - created_at`

// The same for first attempts. Those of runs that were started since stay as they are.
const clampDelays = statement<{ now: Micros; late: Micros }>(
  (_query, p) => sql`
    update callback_runs set ${putOff(p('now'), START_DELAY)}
    where state = ${SCHEDULED} and next_attempt_at is not null and lease_owner is null
      and due_at > ${p('late')} and created_at > ${p('now')} and ${AS_IT_WAS}`,
)

/**
 * To be called once before the first look. The clock may have been set back since the last process ended: what was due then
 * is due now, and nobody would be woken for it; what was put off is put off as long from now on, where it would wait for more
 * than a minute, or than an hour where the newest run does not tell of that clock. What another process has taken stays with it. On
 * PostgreSQL `read committed` is enough.
 */
export async function clampDue(tx: Transaction, now: Micros): Promise<number> {
  const late = now + ((await newestStart(tx)) > now + SHORT_WAIT ? SHORT_WAIT : LONG_WAIT)
  const backoffs = await tx.change(clampBackoffs, { now, late })
  const delays = await tx.change(clampDelays, { now, late })
  return backoffs + delays + (await tx.change(clampRows, { now }))
}

async function newestStart({ query }: Transaction): Promise<Micros> {
  const newest = query.selectFrom('callback_runs').select('created_at').orderBy('run_number', 'desc').limit(1)
  return (await newest.executeTakeFirst())?.created_at ?? 0
}

/** Counting ends here: more is shown as "more than". */
export const MOST_WAITING = 10_001

const waiting = statement<{ ids: string }, { id: number; waiting: number }>(
  (_query, p, engine) => sql`
    select d.id, (select count(*) from (
      select 1 from callback_runs r where r.state = ${SCHEDULED} and r.destination_id = d.id limit ${sql.lit(MOST_WAITING)}
    ) as counted) as waiting
    from callback_destinations d where d.id in ${numbersIn(engine, p('ids'))}`,
)

/** How many runs are SCHEDULED at each of these destinations, those in flight included; none where there is none. */
export async function waitingCounts(reader: Reader, destinationIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await reader.run(waiting, { ids: JSON.stringify(destinationIds) })
  return new Map(rows.filter((row) => row.waiting > 0).map((row) => [row.id, row.waiting]))
}
