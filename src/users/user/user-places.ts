import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../platform/storage/database.ts'
import { type Place, type PlacesQuery, selectPlaces } from './store-user-list.ts'

/** A part of a list: so many, behind so many. */
export type Listing = Omit<PlacesQuery, 'after'>

/** What one step passes; some ten milliseconds. Between two of them others get their turn. */
export const STEP_PLACES = 20_000

/** A page however deep: what lies before it is passed in steps. */
export async function selectFarPlaces(reader: Reader, list: Listing, step: number): Promise<Place[]> {
  let { offset } = list
  let after: Place | undefined
  while (offset > step) {
    const [place] = await selectPlaces(reader, { ...list, after, offset: step - 1, limit: 1 })
    if (place === undefined) return []
    after = place
    offset -= step
    await nextTurn()
  }
  return selectPlaces(reader, { ...list, after, offset })
}

export function numberOf(place: Place): number {
  return place.at(-1) as number
}
