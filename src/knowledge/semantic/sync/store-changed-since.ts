/** What vectors have not followed yet. */
import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../tables.ts'
import '../../tables.ts'
import type { ChunkedNote } from '../chunk/chunk-note.ts'
import type { SyncKey } from './store-sync.ts'

const synced = (p: (key: keyof SyncKey) => number) => sql`coalesce((select synced_seq from project_embeddings
  where project_id = ${p('projectId')} and model_id = ${p('modelId')}), 0)`

const behind = statement<SyncKey, { yes: number }>(
  (_query, p) => sql`
    select 1 as yes from note_changes where project_id = ${p('projectId')} and seq > ${synced(p)} limit 1`,
)

/** Whether any note of a project changed since its notes were embedded. */
export async function isBehind(reader: Reader, key: SyncKey): Promise<boolean> {
  return (await reader.run(behind, key)).length > 0
}

/** A note as it is now. */
export interface ChangedNote extends ChunkedNote {
  id: number
  size: number
}

const changed = statement<SyncKey & { ids: string }, ChangedNote>(
  (_query, p, engine) => sql`
    select n.id, n.title, n.created_at, n.size from notes n
    join note_changes c on c.project_id = n.project_id and c.external_id = n.external_id
    where n.id in ${numbersIn(engine, p('ids'))} and n.project_id = ${p('projectId')} and c.seq > ${synced(p)}`,
)

/** Those of the notes that changed since they were embedded. */
export function notesChangedSince(reader: Reader, key: SyncKey, noteIds: readonly number[]): Promise<ChangedNote[]> {
  return reader.run(changed, { ...key, ids: JSON.stringify(noteIds) })
}
