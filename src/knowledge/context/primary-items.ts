import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { together } from '../note/together.ts'
import { type CountedNote, countParts, type RecentNote, recentNotes } from './store-context.ts'

export type ItemType = 'entity' | 'observation' | 'relation'

/** A note, or the observation or relation number `index` of a note. */
export interface ItemPlace {
  noteId: number
  type: ItemType
  index: number
  /** Of a relation that is known by its place in the text instead. */
  position?: number
}

export type SizedNote = Pick<RecentNote, 'id' | 'size'>

export interface ItemPage {
  places: ItemPlace[]
  hasMore: boolean
}

const NOTES_PER_READ = 500
// Characters: a note of two million may have a hundred thousand parts, and counting them takes its time.
const COUNTED_TOGETHER = 500_000
const NEWEST = { beforeAt: Number.MAX_SAFE_INTEGER, beforeId: Number.MAX_SAFE_INTEGER }

/** The page of a list in which each note is followed by its observations and relations, where these are asked for. */
export async function pageOfItems(
  notes: AsyncIterable<readonly CountedNote[]>,
  types: ReadonlySet<ItemType>,
  { offset, limit }: { offset: number; limit: number },
): Promise<ItemPage> {
  const places: ItemPlace[] = []
  let skip = offset
  for await (const batch of notes) {
    for (const { id: noteId, observations, relations } of batch) {
      for (const [type, count] of [
        ['entity', types.has('entity') ? 1 : 0],
        ['observation', types.has('observation') ? observations : 0],
        ['relation', types.has('relation') ? relations : 0],
      ] as const) {
        const first = Math.min(skip, count)
        skip -= first
        for (let index = first; index < count; index++) {
          if (places.length === limit) return { places, hasMore: true }
          places.push({ noteId, type, index })
        }
      }
    }
  }
  return { places, hasMore: false }
}

/** All notes that changed since then, newest first. */
export async function* recentlyChanged(reader: Reader, projectId: number, since: Micros): AsyncGenerator<RecentNote[]> {
  const limit = NOTES_PER_READ
  for (let before: typeof NEWEST | null = NEWEST; before !== null; ) {
    const rows = await recentNotes(reader, { projectId, since, ...before, limit })
    yield rows
    const last = rows.length < limit ? undefined : rows.at(-1)
    before = last === undefined ? null : { beforeAt: last.updated_at, beforeId: last.id }
    await nextTurn()
  }
}

/** The same notes, with how many parts of the types they have. */
export async function* withCounts(
  reader: Reader,
  batches: AsyncIterable<readonly SizedNote[]>,
  types: ReadonlySet<ItemType>,
): AsyncGenerator<CountedNote[]> {
  const counts = countsOf(types)
  const isCounting = counts.countsObservations + counts.countsRelations > 0
  for await (const notes of batches) {
    for (const some of isCounting ? together(notes, COUNTED_TOGETHER) : [notes]) {
      const ids = some.map(({ id }) => id)
      const known = new Map(isCounting ? (await countParts(reader, ids, counts)).map((row) => [row.id, row]) : [])
      yield ids.map((id) => known.get(id) ?? { id, observations: 0, relations: 0 })
      if (isCounting) await nextTurn()
    }
  }
}

function countsOf(types: ReadonlySet<ItemType>) {
  return {
    countsObservations: types.has('observation') ? 1 : 0,
    countsRelations: types.has('relation') ? 1 : 0,
  }
}
