import type { Reader } from '../../../platform/storage/database.ts'
import { lastChange } from '../../history/store-changes.ts'
import { observationHash, relationHash } from '../../semantic/chunk/chunk-note.ts'
import type { NearChunk } from '../../semantic/search/near-chunk.ts'
import { type ChangedNote, notesChangedSince } from '../../semantic/sync/store-changed-since.ts'
import { hitRelations, observationTexts } from '../answer/store-search-hits.ts'
import { hitKey } from '../hit.ts'
import { LONGEST_TEXT, observationsOf, relationsOf, type StoredPart } from './store-chunks-now.ts'

/** Of so many notes, and of such sizes together, parts that moved are looked for. */
const MOST_NOTES = 50
const MOST_READ = 1_000_000

/**
 * The chunks as their notes have them now. Vectors follow a change after a while, and may have followed it since they were asked: an
 * observation or a relation may stand elsewhere by now, or another one where it stood. One that is nowhere any more is left out.
 * `since` is the change that vectors had followed before they were asked.
 */
export async function chunksNow(
  reader: Reader,
  projectId: number,
  since: number,
  chunks: readonly NearChunk[],
): Promise<readonly NearChunk[]> {
  const parts = chunks.filter(({ kind }) => kind !== 'note')
  if (parts.length === 0 || (await lastChange(reader, projectId)) <= since) return chunks
  const noteIds = [...new Set(parts.map(({ noteId }) => noteId))]
  const changed = new Map((await notesChangedSince(reader, projectId, since, noteIds)).map((note) => [note.id, note]))
  const doubtful = parts.filter(({ noteId }) => changed.has(noteId))
  if (doubtful.length === 0) return chunks
  const now = new Map(hashed(changed, await partsAt(reader, doubtful)).map((part) => [hitKey(part), part.hash]))
  const moved = doubtful.filter((part) => now.get(hitKey(part)) !== part.hash)
  const places = await placesByHash(reader, changed, moved)
  const movedOnes = new Set(moved)
  return chunks.flatMap((chunk): NearChunk[] => {
    if (!movedOnes.has(chunk)) return [chunk]
    const position = places.get(placeKey(chunk))
    return position === undefined ? [] : [{ ...chunk, position }]
  })
}

type HashedPart = Pick<NearChunk, 'noteId' | 'kind' | 'position' | 'hash'>

function hashed(notes: ReadonlyMap<number, ChangedNote>, parts: readonly StoredPart[]): HashedPart[] {
  return parts.flatMap((part): HashedPart[] => {
    const note = notes.get(part.noteId)
    if (note === undefined) return []
    const { noteId, kind, position } = part
    return [
      { noteId, kind, position, hash: kind === 'observation' ? observationHash(note, part) : relationHash(note, part) },
    ]
  })
}

async function partsAt(reader: Reader, parts: readonly NearChunk[]): Promise<StoredPart[]> {
  const of = (kind: NearChunk['kind']) => parts.filter((part) => part.kind === kind)
  const observations = await observationTexts(reader, of('observation'), LONGEST_TEXT)
  const relations = await hitRelations(reader, of('relation'))
  return [
    ...observations.map(({ note_id: noteId, position, category, content, context }): StoredPart => {
      return { noteId, kind: 'observation', position, category, content, context }
    }),
    ...relations.map(({ from_id: noteId, position, relation_type: type, to_name: name, context }): StoredPart => {
      return { noteId, kind: 'relation', position, type, name, context }
    }),
  ]
}

/** Where the parts of the notes of these chunks stand, by what they say: the first of those that say the same. */
async function placesByHash(
  reader: Reader,
  changed: ReadonlyMap<number, ChangedNote>,
  moved: readonly NearChunk[],
): Promise<Map<string, number>> {
  const noteIds: number[] = []
  let size = 0
  for (const noteId of new Set(moved.map((chunk) => chunk.noteId))) {
    size += changed.get(noteId)?.size ?? 0
    if (noteIds.length === MOST_NOTES || (noteIds.length > 0 && size > MOST_READ)) break
    noteIds.push(noteId)
  }
  const places = new Map<string, number>()
  if (noteIds.length === 0) return places
  const parts = [...(await observationsOf(reader, noteIds)), ...(await relationsOf(reader, noteIds))]
  for (const part of hashed(changed, parts)) {
    const key = placeKey(part)
    if (!places.has(key)) places.set(key, part.position)
  }
  return places
}

function placeKey({ noteId, kind, hash }: Omit<HashedPart, 'position'>): string {
  return `${noteId}:${kind}:${hash}`
}
