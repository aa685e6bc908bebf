import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { NoteRef, Project } from '../../note/note.ts'
import { embedOf } from '../../text/frontmatter/note-metadata.ts'
import '../../semantic/tables.ts'
import '../../tables.ts'
import type { KeptChunk } from './chunk-states.ts'

const ofNote = statement<{ projectId: number; modelId: number; noteId: number }, KeptChunk>((query, p) =>
  query
    .selectFrom('note_vectors')
    .select(['kind', 'position', 'number', 'start_at', 'end_at', 'hash'])
    .where('project_id', '=', p('projectId'))
    .where('model_id', '=', p('modelId'))
    .where('note_id', '=', p('noteId'))
    .orderBy('kind')
    .orderBy('position')
    .orderBy('number'),
)

/** The vectors of a note, without the vectors. */
export function keptChunks(reader: Reader, project: Project, modelId: number, noteId: number): Promise<KeptChunk[]> {
  return reader.run(ofNote, { projectId: project.id, modelId, noteId })
}

const waiting = statement<
  { projectId: number; modelId: number; noteId: number; externalId: string },
  { is_waiting: number }
>(
  (_query, p) => sql`
    select 1 as is_waiting from note_changes
    where project_id = ${p('projectId')} and external_id = ${p('externalId')} and seq > coalesce(
      (select synced_seq from project_embeddings
        where project_id = ${p('projectId')} and model_id = ${p('modelId')}), 0)
    union all
    select 1 from embedding_failures
    where project_id = ${p('projectId')} and model_id = ${p('modelId')} and note_id = ${p('noteId')}
      and due_at is not null`,
)

/** Whether a note changed and its vectors have not followed yet, or its time to be tried again will come. */
export async function isWaiting(reader: Reader, project: Project, modelId: number, note: NoteRef): Promise<boolean> {
  const input = { projectId: project.id, modelId, noteId: note.id, externalId: note.external_id }
  return (await reader.run(waiting, input)).length > 0
}

const metadataOf = statement<{ projectId: number; noteId: number }, { metadata: string }>((query, p) =>
  query.selectFrom('notes').select('metadata').where('id', '=', p('noteId')).where('project_id', '=', p('projectId')),
)

/** False where its frontmatter says that it is not to be. */
export async function isToBeEmbedded(reader: Reader, project: Project, noteId: number): Promise<boolean> {
  const [note] = await reader.run(metadataOf, { projectId: project.id, noteId })
  return note !== undefined && embedOf(JSON.parse(note.metadata))
}
