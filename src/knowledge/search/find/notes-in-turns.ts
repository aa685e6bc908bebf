import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../../platform/storage/database.ts'
import { type SearchedNote, searchedNotes } from './store-search-notes.ts'

const NOTES_AT_ONCE = 1_000

/** Of these notes those that pass. Comparing takes time where they have much metadata: others get their turn between some and the next. */
export async function notesInTurns(
  reader: Reader,
  projectId: number,
  ids: Iterable<number>,
  passes: (note: SearchedNote) => boolean,
): Promise<Map<number, SearchedNote>> {
  const unique = [...new Set(ids)]
  const passing = new Map<number, SearchedNote>()
  for (let from = 0; from < unique.length; from += NOTES_AT_ONCE) {
    if (from > 0) await nextTurn()
    const some = await searchedNotes(reader, projectId, unique.slice(from, from + NOTES_AT_ONCE))
    for (const [id, note] of some) if (passes(note)) passing.set(id, note)
  }
  return passing
}
