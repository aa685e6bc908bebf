/** Notes that have vectors, or a failure to make them, and are not there any more: those whose deletion nobody remembers. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { SyncKey } from './store-sync.ts'

// A page is some milliseconds; others have their turn between two of them.
const PAGE = 500

// From note to note by the index, whatever the number of vectors of each.
const heldNotes = statement<
  { projectId: number; modelId: number; after: number; limit: number },
  { note_id: number; is_lost: number }
>(
  (_query, p) => sql`
    with recursive held (note_id) as (
      select min(note_id) from note_vectors
      where project_id = ${p('projectId')} and model_id = ${p('modelId')} and note_id > ${p('after')}
      union all
      select (select min(v.note_id) from note_vectors v
        where v.project_id = ${p('projectId')} and v.model_id = ${p('modelId')} and v.note_id > held.note_id)
      from held where held.note_id is not null
    )
    select held.note_id, case when n.id is null then 1 else 0 end as is_lost
    from held left join notes n on n.id = held.note_id
    where held.note_id is not null limit ${p('limit')}`,
)

const failedNotes = statement<{ projectId: number; modelId: number; limit: number }, { note_id: number }>(
  (_query, p) => sql`
    select f.note_id from embedding_failures f left join notes n on n.id = f.note_id
    where f.project_id = ${p('projectId')} and f.model_id = ${p('modelId')} and n.id is null limit ${p('limit')}`,
)

/** At most so many of them. */
export async function lostNotes(reader: Reader, key: SyncKey, limit: number): Promise<number[]> {
  const failed = await reader.run(failedNotes, { ...key, limit })
  const lost = new Set(failed.map(({ note_id: id }) => id))
  for (let after = -1; lost.size < limit; ) {
    const rows = await reader.run(heldNotes, { ...key, after, limit: PAGE })
    for (const { note_id: id, is_lost: isLost } of rows) if (isLost === 1) lost.add(id)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) break
    after = last.note_id
    await nextTurn()
  }
  return [...lost].slice(0, limit)
}

/** Projects whose vectors may be looked through: not those whose provider is left alone for a while. */
export async function projectsToLookThrough(reader: Reader, modelId: number, now: Micros): Promise<number[]> {
  const rows = await reader.query
    .selectFrom('project_embeddings as e')
    .innerJoin('projects as p', 'p.id', 'e.project_id')
    .select('p.id')
    .where('p.deleted_at', 'is', null)
    .where('e.model_id', '=', modelId)
    .where('e.due_at', '<=', now)
    .orderBy('p.id')
    .execute()
  return rows.map(({ id }) => id)
}
