/** What vectors have not followed yet. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import { lastChangeOf } from '../../history/store-changes.ts'
import '../tables.ts'
import '../../tables.ts'
import type { ChunkedNote } from '../chunk/chunk-note.ts'
import type { SyncKey } from './store-sync.ts'

const synced = statement<SyncKey, { seq: number }>(
  (_query, p) => sql`
    select synced_seq as seq from project_embeddings
    where project_id = ${p('projectId')} and model_id = ${p('modelId')}`,
)

/** The last change of a project that its vectors have followed, or 0. */
export async function syncedSeq(reader: Reader, key: SyncKey): Promise<number> {
  return (await reader.run(synced, key))[0]?.seq ?? 0
}

/** A note as it is now. */
export interface ChangedNote extends ChunkedNote {
  id: number
  size: number
}

const changed = statement<{ projectId: number; since: number; ids: string }, ChangedNote>(
  (_query, p, engine) => sql`
    select n.id, n.title, n.created_at, n.size from notes n ${lastChangeOf(engine)}
    where n.id in ${numbersIn(engine, p('ids'))} and +n.project_id = ${p('projectId')} and c.seq > ${p('since')}`,
)

/** Those of the notes that changed after that change. */
export function notesChangedSince(
  reader: Reader,
  projectId: number,
  since: number,
  noteIds: readonly number[],
): Promise<ChangedNote[]> {
  return reader.run(changed, { projectId, since, ids: JSON.stringify(noteIds) })
}

const awaited = statement<SyncKey & { since: number; ids: string }, { id: number }>(
  (_query, p, engine) => sql`
    select n.id from notes n ${lastChangeOf(engine)}
    where n.id in ${numbersIn(engine, p('ids'))} and +n.project_id = ${p('projectId')} and c.seq > ${p('since')}
      and (select 1 from note_vectors v
        where v.project_id = n.project_id and v.model_id = ${p('modelId')} and v.note_id = n.id limit 1) is null`,
)

/** Those of the notes that changed after that change, and have no vectors. */
export async function notesAwaited(
  reader: Reader,
  { projectId, modelId }: SyncKey,
  since: number,
  noteIds: readonly number[],
): Promise<Set<number>> {
  const rows = await reader.run(awaited, { projectId, modelId, since, ids: JSON.stringify(noteIds) })
  return new Set(rows.map(({ id }) => id))
}
