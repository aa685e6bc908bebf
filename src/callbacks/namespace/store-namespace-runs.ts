import { type RawBuilder, sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { StoredRun } from '../run/run.ts'
import { RUN_COLUMNS, RUNNING_SORT_AT, type RunRow, storedRun } from '../run/store-runs.ts'
import type { Namespace, NamespaceId } from './namespace.ts'
import { findNamespace, type NamespaceRow, toNamespace } from './store-namespaces.ts'

// Any number that nothing else locks by; the second one is the namespace.
const NAMESPACES = 1_667_394_148

/**
 * PostgreSQL: what a start locks before it looks whether its namespace is live. Starts do not wait for each other, and a
 * deletion waits for all of them. Not a lock of the row, which would be written anew by every start.
 */
export function startLock(id: NamespaceId): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(${sql.lit(NAMESPACES)}, hashtext(${id}::text))`
}

const lockStarts = statement<{ id: NamespaceId }, { locked: unknown }>(
  (_query, p) => sql`select pg_advisory_xact_lock(${sql.lit(NAMESPACES)}, hashtext(${p('id')}::text)) as locked`,
)

const lockRow = statement<{ name: string }, NamespaceRow>((query, p) =>
  query.selectFrom('namespaces').selectAll().where('name', '=', p('name')).forUpdate(),
)

/**
 * The namespace, in which nothing is started until the transaction ends. On PostgreSQL that must be `read committed`: what
 * was under way is waited for, and has to be seen afterwards.
 */
export async function holdNamespace(tx: Transaction, name: string): Promise<Namespace | undefined> {
  if (tx.engine === 'sqlite') return findNamespace(tx, name)
  const [row] = await tx.run(lockRow, { name })
  if (row === undefined) return undefined
  await tx.run(lockStarts, row)
  return toNamespace(row)
}

/** Whether something is still to be delivered. Found in the index of the list, where running ones stand last. */
export async function hasRunning(reader: Reader, id: NamespaceId): Promise<boolean> {
  const row = await reader.query
    .selectFrom('callback_runs')
    .select('run_number')
    .where('namespace_id', '=', id)
    .where('sort_at', '=', RUNNING_SORT_AT)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const running = statement<{ id: NamespaceId; limit: number }, RunRow>(
  (_query, p) => sql`
    select ${RUN_COLUMNS} from callback_runs r
    where r.namespace_id = ${p('id')} and r.sort_at = ${sql.lit(RUNNING_SORT_AT)}
    limit ${p('limit')}`,
)

/** At most `limit` of those. */
export async function findRunning(reader: Reader, id: NamespaceId, limit: number): Promise<StoredRun[]> {
  return (await reader.run(running, { id, limit })).map(storedRun)
}

/** Takes away at most `limit` of its destinations. How many. */
export async function removeDestinations(tx: Transaction, id: NamespaceId, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('callback_destinations')
    .where('id', 'in', (eb) =>
      eb.selectFrom('callback_destinations').select('id').where('namespace_id', '=', id).limit(sql.lit(limit)),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
