import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../platform/storage/database.ts'
import { type Place, type PlacesQuery, type Run, selectPlaces, type UserOrder } from './store-user-list.ts'

/** A part of a list: so many, behind so many. */
export type Listing = Omit<PlacesQuery, 'after'>

/** What one step passes; some ten milliseconds. Between two of them others get their turn. */
export const STEP_PLACES = 20_000

/** A page however deep: what lies before it is passed in steps. */
export async function selectFarPlaces(reader: Reader, list: Listing, step = STEP_PLACES): Promise<Place[]> {
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

/** Each user once, however many of the runs it is in. */
export async function countPlaces(reader: Reader, runs: readonly Run[], step = STEP_PLACES): Promise<number> {
  const order: UserOrder = { sort: 'created_at', descending: false }
  let after: Place | undefined
  for (let count = 0; ; ) {
    const places = await selectPlaces(reader, { runs, order, after, offset: 0, limit: step })
    count += places.length
    if (places.length < step) return count
    after = places.at(-1)
    await nextTurn()
  }
}

export function numberOf(place: Place): number {
  return place.at(-1) as number
}
