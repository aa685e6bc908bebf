import { isAppError } from '../../../platform/errors/app-error.ts'
import type { Database } from '../../../platform/storage/database.ts'
import { notesByIds } from '../../context/store-context.ts'
import type { NoteRef, Project } from '../../note/note.ts'
import { MAX_CONTENT } from '../../note/note-input.ts'
import { partId } from '../../note/part-id.ts'
import { contentsOf } from '../../note/store-contents.ts'
import { chunkingNote } from '../../semantic/chunk/chunk-note.ts'
import type { KnownModel } from '../../semantic/embeddings.ts'
import type { Semantic } from '../../semantic/semantic.ts'
import { inTurns } from '../../text/steps.ts'
import { typeOfKind } from '../hit.ts'
import { chunkStates } from './chunk-states.ts'
import type { ChunksDocument } from './schema-inspect.ts'
import { isToBeEmbedded, isWaiting, keptChunks } from './store-inspect.ts'

/** What of a note is embedded, and what should be. */
export async function inspectChunks(
  db: Database,
  semantic: Pick<Semantic, 'serving' | 'known'>,
  project: Project,
  note: NoteRef,
): Promise<ChunksDocument> {
  const { modelId, provider, name, dimensions } = await shownModel(semantic, project.id)
  return db.read(async (snapshot) => {
    const [current] = await notesByIds(snapshot, project.id, [note.id])
    const isEmbedded = await isToBeEmbedded(snapshot, project, note.id)
    const content = isEmbedded ? (await contentsOf(snapshot, [note.id], MAX_CONTENT * 2)).get(note.id) : undefined
    const chunks = current === undefined || content === undefined ? [] : await inTurns(chunkingNote(current, content))
    const waits = await isWaiting(snapshot, project, modelId, note)
    const states = chunkStates(chunks, await keptChunks(snapshot, project, modelId, note.id), waits)
    return {
      external_id: note.external_id,
      entity_id: note.id,
      permalink: note.permalink,
      title: note.title,
      embedding_provider: provider,
      embedding_model: name,
      embedding_dimensions: dimensions,
      is_waiting: waits,
      chunks: states.map(({ kind, position, number, start, end, text, state }) => {
        const type = typeOfKind(kind)
        const id = kind === 'note' ? note.id : partId(note.id, position)
        return { key: `${type}:${id}:${number}`, type, number, status: state, start, end, text }
      }),
    }
  })
}

/** Whose vectors answer; while nobody's do, that of the settings. */
async function shownModel(
  semantic: Pick<Semantic, 'serving' | 'known'>,
  projectId: number,
): Promise<Omit<KnownModel, 'isOpen'>> {
  try {
    const { modelId, provider } = await semantic.serving(projectId)
    return { modelId, ...provider.model }
  } catch (error) {
    if (!isAppError(error, 'unavailable')) throw error
    return semantic.known(projectId)
  }
}
