import type { Reader } from '../../../platform/storage/database.ts'
import { contentsOf } from '../../note/store-contents.ts'
import { type Chunk, chunkNote } from '../../semantic/chunk/chunk-note.ts'
import { notesChangedSince } from '../../semantic/sync/store-changed-since.ts'
import type { ChunkPlaces } from './matched-chunk.ts'
import { type EmbeddedChunk, embeddedChunks } from './store-chunk-places.ts'

const LONGEST_READ = 200_000

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
  const places: Map<number, ChunkPlaces> = new Map()
  const embedded = await embeddedChunks(reader, projectId, modelId, noteIds)
  for (const [noteId, chunks] of embedded) places.set(noteId, chunks)
  for (const note of await notesChangedSince(reader, { projectId, modelId }, [...embedded.keys()])) {
    const content = (await contentsOf(reader, [note.id], LONGEST_READ)).get(note.id) ?? ''
    places.set(note.id, placesNow(embedded.get(note.id) ?? new Map(), chunkNote(note, content)))
  }
  return places
}

function placesNow(embedded: ReadonlyMap<number, EmbeddedChunk>, chunks: readonly Chunk[]): ChunkPlaces {
  const byHash = new Map(chunks.filter(({ kind }) => kind === 'note').map((chunk) => [chunk.hash, chunk]))
  return new Map(
    [...embedded].flatMap(([number, { hash }]) => {
      const chunk = byHash.get(hash)
      return chunk === undefined ? [] : [[number, chunk]]
    }),
  )
}
