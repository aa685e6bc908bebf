import { hash } from 'node:crypto'
import { ROW_KINDS } from '../../search/row-number.ts'
import { type Chunk, type ChunkedNote, chunkNote } from '../chunk/chunk-note.ts'

/** A row of `note_vectors`, without its vector. */
export interface StoredChunk {
  id: number
  kind: number
  position: number
  number: number
  start: number
  end: number
  hash: string
}

/** A note, and what is there of it. */
export interface NoteWork {
  noteId: number
  note: ChunkedNote
  content: string
  stored: readonly StoredChunk[]
  /** Every chunk is embedded, also those that are known. */
  isForced: boolean
}

export type ChunkPlace = Omit<StoredChunk, 'id'>

/** What makes the rows of a note those of its text. */
export interface NotePlan {
  noteId: number
  chunks: number
  fingerprint: string
  /** All chunks that the note has now. */
  hashes: string[]
  /** Known chunks that stand elsewhere now. */
  moved: StoredChunk[]
  removed: number[]
  added: ChunkPlace[]
  /** Those of `added`, to be embedded. */
  texts: string[]
}

/** A chunk keeps its vector as long as its text is the same, wherever in the note it moves. */
export function planNote({ noteId, note, content, stored, isForced }: NoteWork): NotePlan {
  const chunks = chunkNote(note, content)
  const known = Map.groupBy(isForced ? [] : stored, (row) => row.hash)
  const plan: NotePlan = {
    noteId,
    chunks: chunks.length,
    fingerprint: fingerprintOf(chunks),
    hashes: chunks.map((chunk) => chunk.hash),
    moved: [],
    removed: [],
    added: [],
    texts: [],
  }
  const kept = new Set<number>()
  for (const chunk of chunks) {
    const place = placeOf(chunk)
    const row = known.get(chunk.hash)?.shift()
    if (row === undefined) {
      plan.added.push(place)
      plan.texts.push(chunk.text)
      continue
    }
    kept.add(row.id)
    if (!isSamePlace(row, place)) plan.moved.push({ id: row.id, ...place })
  }
  plan.removed = stored.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
  return plan
}

/** For a note that is gone, or that is not to be embedded. */
export function planRemoval(noteId: number, stored: readonly StoredChunk[]): NotePlan {
  const removed = stored.map(({ id }) => id)
  return { noteId, chunks: 0, fingerprint: '', hashes: [], moved: [], removed, added: [], texts: [] }
}

function placeOf({ kind, position, number, start, end, hash }: Chunk): ChunkPlace {
  return { kind: ROW_KINDS[kind], position, number, start, end, hash }
}

function isSamePlace(one: ChunkPlace, other: ChunkPlace): boolean {
  return (
    one.number === other.number &&
    one.position === other.position &&
    one.kind === other.kind &&
    one.start === other.start &&
    one.end === other.end
  )
}

/** Of all chunks of a note: the same exactly when each of them is. */
function fingerprintOf(chunks: readonly Chunk[]): string {
  const keys = chunks.map(({ kind, position, number, hash }) => `${kind}:${position}:${number}:${hash}`)
  return hash('sha256', keys.join('\n'), 'base64url')
}
