import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'
import { signalOnce } from './enqueue.ts'
import type { JobId } from './job-kind.ts'
import { insertYielding, type JobRow, type JobState } from './store.ts'

// What an operator sees and does. It needs no engine and knows no handler: the command line works beside the server.

export interface JobFilter {
  state?: JobState
  kind?: string
  /** Jobs after this id, oldest first. */
  after?: JobId
  limit?: number
}

const DEFAULT_PAGE = 100
const LARGEST_PAGE = 1_000

/** Oldest first; the id of the last one is the cursor of the next page. */
export async function listJobs(reader: Reader, filter: JobFilter): Promise<JobRow[]> {
  let query = reader.query
    .selectFrom('jobs')
    .selectAll()
    .orderBy('id')
    .limit(Math.min(Math.max(1, filter.limit ?? DEFAULT_PAGE), LARGEST_PAGE))
  if (filter.state !== undefined) query = query.where('state', '=', sql.lit(filter.state))
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind)
  if (filter.after !== undefined) query = query.where('id', '>', filter.after)
  return query.execute()
}

const removeDead = statement<{ id: JobId }, JobRow>((query, p) =>
  query.deleteFrom('jobs').where('id', '=', p('id')).where('state', '=', sql.lit('dead')).returningAll(),
)

/** `joined`: a waiting job of the same key takes care of it, with its own, newer payload. */
export type Requeued = 'requeued' | 'joined' | 'not_dead'

/** Gives a dead job all its tries anew, due now. */
export async function requeueJob(tx: Transaction, id: JobId, now: Micros): Promise<Requeued> {
  const [dead] = await tx.run(removeDead, { id })
  if (dead === undefined) return 'not_dead'
  const { state: _, lease_owner: _owner, lease_until: _until, ...row } = dead
  const [kept] = await tx.run(insertYielding, { ...row, attempt: 0, due_at: now, changed_at: now })
  signalOnce(tx, row.kind)
  return kept?.id === id ? 'requeued' : 'joined'
}

const REQUEUE_BATCH = 200

/** All dead jobs of a kind, in bounded transactions. Answers how many; those that die anew meanwhile are left alone. */
export async function requeueKind(db: Database, kind: string, now: () => Micros): Promise<number> {
  let requeued = 0
  let after: JobId | undefined
  for (;;) {
    const dead = await listJobs(db, { state: 'dead', kind, after, limit: REQUEUE_BATCH })
    if (dead.length === 0) return requeued
    requeued += await db.write(async (tx) => {
      let count = 0
      for (const job of dead) if ((await requeueJob(tx, job.id, now())) !== 'not_dead') count++
      return count
    })
    after = dead.at(-1)?.id
  }
}

/** Forgets a dead or waiting job for good; a running one has to end first. */
export async function discardJob(tx: Transaction, id: JobId): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('state', 'in', ['dead', 'waiting'])
    .executeTakeFirst()
  return numDeletedRows > 0n
}
