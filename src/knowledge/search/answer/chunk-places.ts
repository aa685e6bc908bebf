import type { Reader } from '../../../platform/storage/database.ts'
import { contentsOf } from '../../note/store-contents.ts'
import { chunkingNote } from '../../semantic/chunk/chunk-note.ts'
import { notesChangedSince, syncedSeq } from '../../semantic/sync/store-changed-since.ts'
import { inTurns, turnAfter } from '../../text/steps.ts'
import type { ChunkPlaces } from './matched-chunk.ts'
import { embeddedPlaces } from './store-chunk-places.ts'

const LONGEST_READ = 200_000
/** So much is read before others have their turn. */
const READ_AT_ONCE = 20_000

/**
 * Where the chunks of notes stand in their contents. Of a note that changed since it was embedded they may stand elsewhere by now, or
 * nowhere: those are looked for in its text.
 */
export async function chunkPlaces(
  reader: Reader,
  projectId: number,
  modelId: number,
  noteIds: readonly number[],
): Promise<Map<number, ChunkPlaces>> {
  const places: Map<number, ChunkPlaces> = await embeddedPlaces(reader, projectId, modelId, noteIds)
  const synced = await syncedSeq(reader, { projectId, modelId })
  const breathe = turnAfter(READ_AT_ONCE)
  for (const note of await notesChangedSince(reader, projectId, synced, [...places.keys()])) {
    const content = (await contentsOf(reader, [note.id], LONGEST_READ)).get(note.id) ?? ''
    const chunks = (await inTurns(chunkingNote(note, content))).filter(({ kind }) => kind === 'note')
    places.set(note.id, new Map(chunks.map((chunk) => [chunk.hash, chunk])))
    await breathe(content.length)
  }
  return places
}
