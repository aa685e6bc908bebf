import type { Chunk } from '../../semantic/chunk/chunk-note.ts'
import { KIND_NAMES, ROW_KINDS } from '../row-number.ts'
import type { ChunkState } from './schema-inspect.ts'

/** A vector that is there. */
export interface KeptChunk {
  /** A number of ROW_KINDS. */
  kind: number
  position: number
  number: number
  start_at: number
  end_at: number
  hash: string
}

export interface ChunkWithState extends Pick<Chunk, 'kind' | 'position' | 'number' | 'start' | 'end'> {
  state: ChunkState
  /** Null when the text is gone. */
  text: string | null
}

/** The chunks that a note has by its text, compared with those that have vectors; what is left of the latter comes last. */
export function chunkStates(
  chunks: readonly Chunk[],
  kept: readonly KeptChunk[],
  isWaiting: boolean,
): ChunkWithState[] {
  const left = new Map(kept.map((row) => [keyOf(row), row]))
  const states = chunks.map(({ kind, position, number, start, end, hash, text }): ChunkWithState => {
    const key = keyOf({ kind: ROW_KINDS[kind], position, number })
    const row = left.get(key)
    left.delete(key)
    const absent = isWaiting ? 'pending' : 'missing'
    const state = row === undefined ? absent : row.hash === hash ? 'ready' : 'stale'
    return { kind, position, number, start, end, text, state }
  })
  for (const { kind, position, number, start_at: start, end_at: end } of left.values()) {
    states.push({ kind: KIND_NAMES[kind] ?? 'note', position, number, start, end, text: null, state: 'orphaned' })
  }
  return states
}

function keyOf({ kind, position, number }: Pick<KeptChunk, 'kind' | 'position' | 'number'>): string {
  return `${kind}:${position}:${number}`
}
