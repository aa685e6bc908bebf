import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import { type ChangedNote, newestNotes } from './store-search-notes.ts'

const FIRST_BATCH = 100
const LARGEST_BATCH = 1_000

export interface NoteBatch {
  notes: ChangedNote[]
  /** Whether no note changed before them. */
  isLast: boolean
}

/** Notes in the order of their changes, some at a time, no more than `most` altogether. Others get their turn between two batches. */
export async function* noteBatches(
  reader: Reader,
  projectId: number,
  after: Micros,
  most: number,
): AsyncGenerator<NoteBatch> {
  let before: ChangedNote | null = null
  let size = Math.min(FIRST_BATCH, most)
  for (let seen = 0; seen < most; size = Math.min(2 * size, LARGEST_BATCH, most - seen)) {
    if (before !== null) await nextTurn()
    const notes: ChangedNote[] = await newestNotes(reader, projectId, after, before, size)
    const isLast = notes.length < size
    yield { notes, isLast }
    if (isLast) return
    seen += size
    before = notes.at(-1) ?? null
  }
}
