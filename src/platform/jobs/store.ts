import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Engine } from '../storage/engine.ts'
import { statement } from '../storage/statement.ts'
import type { JobId } from './job-kind.ts'

// The statements behind the state machine in job-engine.ts. States are literals in the SQL, not parameters:
// SQLite uses a partial index only when the text of the query proves that it may.

export type JobState = 'waiting' | 'running' | 'dead'

export interface JobsTable {
  id: JobId
  kind: string
  coalesce_key: string | null
  payload: string
  state: JobState
  due_at: Micros
  /** Claims since the work was asked for; starts anew when it is asked for anew. */
  attempt: number
  /** Claims ever. Only grows, so (id, fence) names one lease for all time: what settles must name the current one. */
  fence: number
  lease_owner: string | null
  lease_until: Micros | null
  last_error: string | null
  created_at: Micros
  changed_at: Micros
}

declare module '../storage/tables.ts' {
  interface Tables {
    jobs: JobsTable
  }
}

export type JobRow = Selectable<JobsTable>
export type WaitingRow = Omit<JobRow, 'state' | 'lease_owner' | 'lease_until'>
export type ClaimedRow = Omit<JobRow, 'state' | 'lease_owner' | 'changed_at'> & { lease_until: Micros }

/** The text of a JSON array as a table `list` with the one column `value`. */
function listOf(json: string, engine: Engine): RawBuilder<{ value: string }> {
  return engine === 'sqlite'
    ? sql`json_each(${json}) as list`
    : sql`json_array_elements_text(${json}::json) as list(value)`
}

const inState = <S extends JobState>(state: S) => sql.lit(state)

/**
 * Puts a job into the queue, or joins it with the waiting one of its key. The id that comes back tells which.
 * `overwrite`: the given payload and tries win; `yield`: those of the waiting job stay.
 */
function insertWaiting(onJoin: 'overwrite' | 'yield') {
  return statement<WaitingRow, { id: JobId }>((query, p) =>
    query
      .insertInto('jobs')
      .values({
        id: p('id'),
        kind: p('kind'),
        coalesce_key: p('coalesce_key'),
        payload: p('payload'),
        state: inState('waiting'),
        due_at: p('due_at'),
        attempt: p('attempt'),
        fence: p('fence'),
        last_error: p('last_error'),
        created_at: p('created_at'),
        changed_at: p('changed_at'),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'coalesce_key'])
          .where('state', '=', inState('waiting'))
          .where('coalesce_key', 'is not', null)
          .doUpdateSet((row) => ({
            due_at: sql`case when excluded.due_at < jobs.due_at then excluded.due_at else jobs.due_at end`,
            changed_at: row.ref('excluded.changed_at'),
            ...(onJoin === 'overwrite' && {
              payload: row.ref('excluded.payload'),
              attempt: row.ref('excluded.attempt'),
              last_error: row.ref('excluded.last_error'),
            }),
          })),
      )
      .returning('id'),
  )
}

export const insertOverwriting = insertWaiting('overwrite')
export const insertYielding = insertWaiting('yield')

/**
 * Jobs of the given kinds (a JSON array) that were put in line by a clock which was ahead, and has been set back since: they wait from
 * now on for as long as they were to.
 */
export const bringForward = statement<{ kinds: string; now: Micros }>((query, p, engine) =>
  query
    .updateTable('jobs')
    .set({ due_at: sql`due_at - changed_at + ${p('now')}`, changed_at: p('now') })
    .where('state', '=', inState('waiting'))
    .where(sql<boolean>`kind in (select list.value from ${listOf(p('kinds'), engine)})`)
    .where('due_at', '>', p('now'))
    .where('changed_at', '>', p('now')),
)

export interface Upcoming {
  kind: string
  /** When the first waiting job is due, which may be in the past. */
  first_due_at: Micros | null
  /** When the first job after `now` is due: the ones before are claimed, or wait for a running one of their key. */
  next_due_at: Micros | null
}

/** `kinds` is a JSON array. Two index look-ups per kind, however many jobs wait. */
export const upcomingJobs = statement<{ kinds: string; now: Micros }, Upcoming>((query, p, engine) => ({
  compile: () =>
    sql`
      select list.value as kind,
        (select due_at from jobs where state = 'waiting' and kind = list.value order by due_at limit 1) as first_due_at,
        (select due_at from jobs where state = 'waiting' and kind = list.value and due_at > ${p('now')}
          order by due_at limit 1) as next_due_at
      from ${listOf(p('kinds'), engine)}`.compile(query),
}))

export interface ClaimInput {
  kind: string
  now: Micros
  limit: number
  owner: string
  leaseUntil: Micros
}

/**
 * Leases due jobs of one kind, leaving out those whose key is running already: their turn comes when it is settled.
 *
 * SQLite has one writer, so a plain update-returning is already exclusive. PostgreSQL needs `skip locked`, and the
 * array, because a sub-select under IN may be planned as a loop that runs it, and so its limit, more than once.
 */
export const claimJobs = statement<ClaimInput, ClaimedRow>((query, p, engine) => {
  let due = query
    .selectFrom('jobs as j')
    .select('j.id')
    .where('j.state', '=', inState('waiting'))
    .where('j.kind', '=', p('kind'))
    .where('j.due_at', '<=', p('now'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('jobs as r')
            .select('r.id')
            .where('r.state', '=', inState('running'))
            .whereRef('r.kind', '=', 'j.kind')
            .whereRef('r.coalesce_key', '=', 'j.coalesce_key'),
        ),
      ),
    )
    .orderBy('j.due_at')
    .orderBy('j.id')
    .limit(p('limit'))
  if (engine === 'postgres') due = due.forUpdate('j').skipLocked()
  return query
    .updateTable('jobs')
    .set({
      state: inState('running'),
      attempt: sql`attempt + 1`,
      fence: sql`fence + 1`,
      lease_owner: p('owner'),
      lease_until: p('leaseUntil'),
      changed_at: p('now'),
    })
    .where(engine === 'postgres' ? sql<boolean>`id = any(array(${due}))` : sql<boolean>`id in (${due})`)
    .returning(CLAIMED)
})

const CLAIMED = [
  'id',
  'kind',
  'coalesce_key',
  'payload',
  'due_at',
  'attempt',
  'fence',
  'lease_until',
  'last_error',
  'created_at',
] as const

export interface LeaseInput {
  id: JobId
  fence: number
}

/** No row comes back when the lease is no longer ours; the same holds for the three that follow. */
export const removeLeased = statement<LeaseInput, { id: JobId }>((query, p) =>
  query
    .deleteFrom('jobs')
    .where('id', '=', p('id'))
    .where('fence', '=', p('fence'))
    .where('state', '=', inState('running'))
    .returning('id'),
)

/** For a job without a key; one with a key is removed and put in again, because it may have to join. */
export const returnLeased = statement<
  LeaseInput & Pick<JobRow, 'due_at' | 'attempt' | 'payload' | 'last_error' | 'changed_at'>,
  { id: JobId }
>((query, p) =>
  query
    .updateTable('jobs')
    .set({
      state: inState('waiting'),
      due_at: p('due_at'),
      attempt: p('attempt'),
      payload: p('payload'),
      last_error: p('last_error'),
      changed_at: p('changed_at'),
      lease_owner: null,
      lease_until: null,
    })
    .where('id', '=', p('id'))
    .where('fence', '=', p('fence'))
    .where('state', '=', inState('running'))
    .returning('id'),
)

export const buryLeased = statement<LeaseInput & Pick<JobRow, 'last_error' | 'changed_at'>, { id: JobId }>((query, p) =>
  query
    .updateTable('jobs')
    .set({
      state: inState('dead'),
      last_error: p('last_error'),
      changed_at: p('changed_at'),
      lease_owner: null,
      lease_until: null,
    })
    .where('id', '=', p('id'))
    .where('fence', '=', p('fence'))
    .where('state', '=', inState('running'))
    .returning('id'),
)

/** `ids` is a JSON array. Answers the leases that are still ours. */
export const renewLeases = statement<{ ids: string; owner: string; leaseUntil: Micros }, LeaseInput>(
  (query, p, engine) =>
    query
      .updateTable('jobs')
      .set({ lease_until: p('leaseUntil') })
      .where(sql<boolean>`id in (select list.value from ${listOf(p('ids'), engine)})`)
      .where('state', '=', inState('running'))
      .where('lease_owner', '=', p('owner'))
      .returning(['id', 'fence']),
)

/** Leases that ran out, of the given kinds (a JSON array). */
export const expiredLeases = statement<{ kinds: string; before: Micros; limit: number }, ClaimedRow>(
  (query, p, engine) =>
    query
      .selectFrom('jobs')
      .select(CLAIMED)
      .where('state', '=', inState('running'))
      .where(sql<boolean>`kind in (select list.value from ${listOf(p('kinds'), engine)})`)
      .where('lease_until', '<=', p('before'))
      .orderBy('lease_until')
      .limit(p('limit')),
)

/** The waiting and the running job of a key, if any. */
export const liveJobsOfKey = statement<{ kind: string; key: string }, Pick<JobRow, 'state' | 'due_at'>>((query, p) =>
  (['waiting', 'running'] as const)
    .map((state) =>
      query
        .selectFrom('jobs')
        .select(['state', 'due_at'])
        .where('state', '=', inState(state))
        .where('kind', '=', p('kind'))
        .where('coalesce_key', '=', p('key')),
    )
    .reduce((all, one) => all.unionAll(one)),
)
