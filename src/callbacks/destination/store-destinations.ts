import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Settlement } from '../run/run.ts'
import type { CallbackDestinationsTable } from '../tables.ts'

/** Where callbacks of one namespace go, with what an operator set and what is known of it. */
export interface StoredDestination {
  readonly id: number
  readonly namespaceId: Id<'Namespace'>
  readonly destination: string
  /** Null in both: as the settings say. */
  readonly concurrency: number | null
  readonly rps: number | null
  readonly isPaused: boolean
  readonly lastSuccessAt: Micros | null
  readonly lastFailureAt: Micros | null
  readonly lastFailureMessage: string | null
}

type Named = { namespaceId: Id<'Namespace'>; destination: string }
type Row = Omit<CallbackDestinationsTable, 'id' | 'paused'> & { id: number; paused: number }

const idByName = statement<Named, { id: number }>((query, p) =>
  query
    .selectFrom('callback_destinations')
    .select('id')
    .where('namespace_id', '=', p('namespaceId'))
    .where('destination', '=', p('destination')),
)

const insertRow = statement<Named>(
  (_query, p) => sql`
    insert into callback_destinations (namespace_id, destination) values (${p('namespaceId')}, ${p('destination')})
    on conflict (namespace_id, destination) do nothing`,
)

export interface NumberedDestination {
  /** Never changes its meaning. */
  readonly id: number
  /** Whether this transaction added the destination. */
  readonly isNew: boolean
}

/** The number of the destination, which is added the first time that it is asked for. */
export async function ensureDestination(
  tx: Transaction,
  namespaceId: Id<'Namespace'>,
  destination: string,
): Promise<NumberedDestination> {
  const named = { namespaceId, destination }
  const [known] = await tx.run(idByName, named)
  if (known !== undefined) return { id: known.id, isNew: false }
  // None when somebody else has added it meanwhile.
  const added = await tx.change(insertRow, named)
  const [found] = await tx.run(idByName, named)
  return { id: (found as { id: number }).id, isNew: added > 0 }
}

const deleteRow = statement<{ id: number }>((_query, p) => sql`delete from callback_destinations where id = ${p('id')}`)

export async function destinationId(
  tx: Transaction,
  namespaceId: Id<'Namespace'>,
  destination: string,
): Promise<number> {
  return (await ensureDestination(tx, namespaceId, destination)).id
}

/** For whoever added it in this transaction, and needs it no more. */
export async function removeNewDestination(tx: Transaction, id: number): Promise<void> {
  await tx.change(deleteRow, { id })
}

const byId = statement<{ id: number }, Row>((query, p) =>
  query.selectFrom('callback_destinations').selectAll().where('id', '=', p('id')),
)

export async function findDestination(reader: Reader, id: number): Promise<StoredDestination | undefined> {
  const [row] = await reader.run(byId, { id })
  return row && storedDestination(row)
}

export async function findDestinationByName(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  destination: string,
): Promise<StoredDestination | undefined> {
  const [found] = await reader.run(idByName, { namespaceId, destination })
  return found && findDestination(reader, found.id)
}

const lockById = statement<{ id: number }, Row>((query, p) =>
  query.selectFrom('callback_destinations').selectAll().where('id', '=', p('id')).forUpdate(),
)

/**
 * The same, which nobody changes until the transaction ends. On PostgreSQL that must be `read committed`: results are stored here all
 * the time, and each of them would make a serializable one begin anew.
 */
export async function holdDestination(
  tx: Transaction,
  namespaceId: Id<'Namespace'>,
  destination: string,
): Promise<StoredDestination | undefined> {
  const [found] = await tx.run(idByName, { namespaceId, destination })
  if (found === undefined) return undefined
  const [row] = await tx.run(tx.engine === 'sqlite' ? byId : lockById, found)
  return row && storedDestination(row)
}

/** By name, those behind `after`. */
export async function listDestinations(
  reader: Reader,
  namespaceId: Id<'Namespace'>,
  { after = '', limit = 1_000 }: { after?: string; limit?: number } = {},
): Promise<StoredDestination[]> {
  const rows = await reader.query
    .selectFrom('callback_destinations')
    .selectAll()
    .where('namespace_id', '=', namespaceId)
    .where('destination', '>', after)
    .orderBy('destination')
    .limit(limit)
    .execute()
  return rows.map(storedDestination)
}

export interface DestinationChange {
  readonly concurrency?: number | null
  readonly rps?: number | null
  readonly isPaused?: boolean
}

/** What is absent stays as it is. False when there is no such destination. */
export async function changeDestination(
  tx: Transaction,
  id: number,
  { isPaused, concurrency, rps }: DestinationChange,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('callback_destinations')
    .set({
      // Something has to be set: to what it is.
      paused: isPaused === undefined ? sql`paused` : isPaused ? 1 : 0,
      ...(concurrency !== undefined && { concurrency }),
      ...(rps !== undefined && { rps }),
    })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

interface News {
  id: number
  success_at: Micros | null
  failure_at: Micros | null
  message: string | null
}

// Several processes may tell of the same destination: the latest news stay, whoever comes last.
export function latestNews(at: RawBuilder<unknown>, failureAt: RawBuilder<unknown>, message: RawBuilder<unknown>) {
  const isNewer = sql`coalesce(last_failure_at, 0) <= ${failureAt}`
  return sql`
    last_success_at = case when coalesce(last_success_at, 0) < ${at} then ${at} else last_success_at end,
    last_failure_at = case when ${isNewer} then ${failureAt} else last_failure_at end,
    last_failure_message = case when ${isNewer} then ${message} else last_failure_message end`
}

const tell = statement<News>(
  (_query, p) => sql`
    update callback_destinations
    set ${latestNews(sql`${p('success_at')}`, sql`${p('failure_at')}`, sql`${p('message')}`)}
    where id = ${p('id')}`,
)

/** When an attempt at a destination last worked and last failed, by the attempts of these; on SQLite. */
export async function noteAttempts(tx: Transaction, settlements: readonly Settlement[]): Promise<void> {
  const news = new Map<number, News>()
  for (const { run, changed, attempt } of settlements) {
    if (attempt === null) continue
    let one = news.get(run.destinationId)
    if (one === undefined) {
      one = { id: run.destinationId, success_at: null, failure_at: null, message: null }
      news.set(run.destinationId, one)
    }
    if (changed.transition === 'succeed') one.success_at = Math.max(one.success_at ?? 0, attempt.endedAt)
    else if (attempt.endedAt >= (one.failure_at ?? 0)) {
      one.failure_at = attempt.endedAt
      one.message = attempt.message
    }
  }
  await tx.changeEach(tell, [...news.values()])
}

function storedDestination(row: Row): StoredDestination {
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    destination: row.destination,
    concurrency: row.concurrency,
    rps: row.rps,
    isPaused: row.paused === 1,
    lastSuccessAt: row.last_success_at,
    lastFailureAt: row.last_failure_at,
    lastFailureMessage: row.last_failure_message,
  }
}
