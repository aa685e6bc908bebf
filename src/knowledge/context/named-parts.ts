import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { permalinkPrefixes, withPrefixes } from '../project/permalink-prefixes.ts'
import { matchParts } from '../search/find/find-parts.ts'
import { rowOf } from '../search/row-number.ts'
import { permalinkPatterns } from '../text/name/permalink-patterns.ts'
import type { ItemPlace } from './primary-items.ts'

// Two that are called the same differ only in signs; nobody has many of those. Of a pattern so many are shown.
const MOST_NAMED = 1_000

/**
 * Observations and relations that are called so, as answers show it, or like so where it has a star; the project in front may be
 * left out. As numbers of rows.
 */
export async function namedParts(reader: Reader, project: Project, name: string): Promise<number[]> {
  const kinds = new Set(['observation', 'relation'] as const)
  const search = { reader, project, kinds, categories: [], passes: () => true, limit: MOST_NAMED }
  const readings = name.includes('*')
    ? permalinkPatterns(permalinkPrefixes(project), name)
    : withPrefixes(project, name)
  for (const reading of readings) {
    const { numbers } = await matchParts(search, reading)
    if (numbers.length > 0) return numbers.slice(0, MOST_NAMED)
  }
  return []
}

export function placesOfParts(numbers: readonly number[]): ItemPlace[] {
  const places: ItemPlace[] = []
  for (const number of numbers) {
    const { kind, noteId, position } = rowOf(number)
    if (kind === 'observation') places.push({ noteId, type: kind, index: position })
    else if (kind === 'relation') places.push({ noteId, type: kind, index: 0, position })
  }
  return places
}
