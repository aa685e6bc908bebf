/** Notes that SQLite's index has to look at, in the order of their changes. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Reader, Transaction } from '../../../platform/storage/database.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { QueueState } from './store-index-file.ts'

export const NOTE_QUEUED = 'knowledge.note-queued'

const addToQueue = statement<{ noteId: number }>(
  (_query, p) => sql`insert into note_search_queue (note_id) values (${p('noteId')})`,
)

/** A note that was written or deleted. */
export function queueNote(tx: Transaction, noteId: number): Promise<unknown> {
  tx.signal(NOTE_QUEUED)
  return tx.change(addToQueue, { noteId })
}

const lastInQueue = statement<object, { last: number | null }>(
  () => sql`select max(seq) as last from note_search_queue`,
)

/** The number of the last change that waits, or 0. */
export async function lastQueued(reader: Reader): Promise<number> {
  const [row] = await reader.run(lastInQueue, {})
  return row?.last ?? 0
}

// Of a deleted note nobody knows whose it was.
const lastOfProject = statement<{ projectId: number; after: number; through: number }, { last: number | null }>(
  (_query, p) => sql`
    select max(q.seq) as last from note_search_queue q left join notes n on n.id = q.note_id
    where q.seq > ${p('after')} and q.seq <= ${p('through')} and (n.id is null or n.project_id = ${p('projectId')})`,
)

const LOOKED_AT_ONCE = 1_000

/** The number of the last change up to `through` and behind `after` that may concern the project; 0 when none waits. */
export async function lastQueuedOf(reader: Reader, projectId: number, after: number, through: number): Promise<number> {
  for (let end = through; end > after; end -= LOOKED_AT_ONCE) {
    if (end < through) await nextTurn()
    const begin = Math.max(after, end - LOOKED_AT_ONCE)
    const [row] = await reader.run(lastOfProject, { projectId, after: begin, through: end })
    if (row?.last) return row.last
  }
  return 0
}

const removeFromQueue = statement<{ through: number }>(
  (_query, p) => sql`delete from note_search_queue where seq <= ${p('through')}`,
)

export async function removeQueued(tx: Transaction, through: number): Promise<void> {
  await tx.change(removeFromQueue, { through })
}

export async function readQueueState(reader: Reader): Promise<QueueState> {
  const { rows } = await sql<{ installation: string | null; first: number | null; last: number | null; notes: number }>`
    select
      (select value from installation where key = 'id') as installation,
      (select min(seq) from note_search_queue) as first,
      (select seq from sqlite_sequence where name = 'note_search_queue') as last,
      exists (select 1 from notes) as notes`.execute(reader.query)
  const { installation = null, first = null, last = null, notes = 0 } = rows[0] ?? {}
  return {
    installation: installation ?? '',
    removed: first === null ? (last ?? 0) : first - 1,
    last: last ?? 0,
    hasNotes: notes === 1,
  }
}
