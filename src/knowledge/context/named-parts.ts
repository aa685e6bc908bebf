import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { findParts } from '../search/find/find-parts.ts'
import { rowOf } from '../search/row-number.ts'
import type { ItemPlace } from './primary-items.ts'
import { relationsBefore } from './store-neighbours.ts'

// Two that are called the same differ only in signs; nobody has many of those.
const MOST_NAMED = 1_000

/** Observations and relations that are called exactly so, as answers show it; the project in front may be left out. */
export async function namedParts(reader: Reader, project: Project, name: string): Promise<ItemPlace[]> {
  const kinds = new Set(['observation', 'relation'] as const)
  const search = { reader, project, kinds, categories: [], passes: () => true, limit: MOST_NAMED }
  const whole = await findParts(search, name)
  const numbers = whole.length > 0 ? whole : await findParts(search, `${project.permalink}/${name}`)
  const places: ItemPlace[] = []
  for (const number of numbers.slice(0, MOST_NAMED)) {
    const { kind, noteId, position } = rowOf(number)
    if (kind === 'observation') places.push({ noteId, type: kind, index: position })
    else if (kind === 'relation') {
      places.push({ noteId, type: kind, index: await relationsBefore(reader, noteId, position) })
    }
  }
  return places
}
