import type { Reader } from '../../../platform/storage/database.ts'
import type { NoteRef } from '../../note/note.ts'
import { nameOf, observationPermalink, relationPermalink } from '../../note/part-document.ts'
import { categoryFilter } from '../filter/passing-notes.ts'
import { type RowKind, rowNumber } from '../row-number.ts'
import { namedObservations, namedRelations } from './store-parts.ts'

/** A note, as far as the permalinks of its parts depend on it. */
export type PartOwner = Pick<NoteRef, 'id' | 'permalink' | 'file_path'>

export interface WantedParts {
  kinds: ReadonlySet<RowKind>
  /** Of observations; empty is any. */
  categories: readonly string[]
  isWanted(permalink: string): boolean
}

export interface MatchingParts {
  /** Rows in the order of the notes, and of each in its own. */
  numbers: number[]
  /** How many parts were looked at. */
  compared: number
}

/** Parts of these notes by their permalinks, which are stored nowhere. The caller sees to it that the notes are not too many. */
export async function matchingParts(
  reader: Reader,
  owners: readonly PartOwner[],
  { kinds, categories, isWanted }: WantedParts,
): Promise<MatchingParts> {
  const found = new Map<number, number[]>(owners.map(({ id }) => [id, []]))
  const ownerOf = new Map(owners.map((owner) => [owner.id, owner]))
  const ids = [...ownerOf.keys()]
  let compared = 0
  if (kinds.has('observation')) {
    const isOfCategory = categoryFilter(categories)
    const seen = new Set<string>()
    for (const { note_id: id, position, category, content } of await namedObservations(reader, ids)) {
      compared++
      // One that says what an earlier one says is shown nowhere.
      const key = `${id}\n${category}\n${content}`
      if (seen.has(key)) continue
      seen.add(key)
      if (!isOfCategory(category)) continue
      const permalink = observationPermalink(ownerOf.get(id) as PartOwner, category, content)
      if (isWanted(permalink)) found.get(id)?.push(rowNumber('observation', id, position))
    }
  }
  if (kinds.has('relation')) {
    for (const { note_id: id, position, to_path: path, ...relation } of await namedRelations(reader, ids)) {
      compared++
      const { relation_type: type, to_name: literal, to_permalink: permalink } = relation
      const to = path === null ? literal : nameOf({ permalink, file_path: path })
      if (!isWanted(relationPermalink(ownerOf.get(id) as PartOwner, type, to))) continue
      found.get(id)?.push(rowNumber('relation', id, position))
    }
  }
  return { numbers: [...found.values()].flatMap((numbers) => numbers.sort((one, other) => one - other)), compared }
}
