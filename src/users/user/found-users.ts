import { setImmediate as nextTurn } from 'node:timers/promises'
import { sortInTurns } from '../../platform/clock/sort-in-turns.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { comparePlaces } from './compare-places.ts'
import type { NumberSet } from './number-set.ts'
import { type Place, selectPlaces, type UserOrder } from './store-user-list.ts'
import { placesOf } from './store-user-search.ts'
import { type Listing, numberOf } from './user-places.ts'

/** The users found, in the order of a list: all of them, or as many as a walk through the list has met so far. */
interface Row {
  order: UserOrder
  numbers: number[]
  isComplete: boolean
  /** Where the walk has come to; undefined at its beginning. */
  after: Place | undefined
}

export interface FoundLimits {
  /** The longest row that is kept. */
  mostKept: number
  /** What one step looks at, so that it takes some ten milliseconds: rows in any order. */
  stepLooks: number
}

const MOST_ROWS = 4
const BYTES_PER_NUMBER = 8
// To put one back into its row takes some twenty look-ups.
const MOST_MOVED = 100
// A row in any order against one entry of an index.
const LOOK_COST = 4

/** Users that a search has found, and the orders in which they were asked for. Follows changes instead of beginning anew. */
export class FoundUsers {
  readonly #users: NumberSet
  readonly #limits: FoundLimits
  readonly #rows = new Map<string, Row>()

  constructor(users: NumberSet, limits: FoundLimits) {
    this.#users = users
    this.#limits = limits
  }

  get count(): number {
    return this.#users.size
  }

  get bytes(): number {
    let numbers = 0
    for (const row of this.#rows.values()) numbers += row.numbers.length
    return this.#users.bytes + numbers * BYTES_PER_NUMBER
  }

  /** These may have changed; those of them that are found now are given as well. */
  async follow(reader: Reader, changed: ReadonlySet<number>, found: ReadonlySet<number>): Promise<void> {
    if (changed.size === 0) return
    for (const number of changed) {
      if (found.has(number)) this.#users.add(number)
      else this.#users.delete(number)
    }
    if (found.size > MOST_MOVED) this.#rows.clear()
    for (const row of this.#rows.values()) {
      row.numbers = row.numbers.filter((number) => !changed.has(number))
      for (const number of found) {
        await nextTurn()
        await this.#insert(reader, row, number)
      }
    }
  }

  /** The numbers of a page. `listed` is how many the list has without the search. */
  async page(reader: Reader, list: Listing, listed: number): Promise<number[]> {
    if (list.offset >= this.count) return []
    const end = Math.min(this.count, list.offset + list.limit)
    const row = await this.#row(reader, list, (end * listed) / this.count)
    while (!row.isComplete && row.numbers.length < Math.min(end, this.#limits.mostKept)) {
      await this.#walk(reader, list, row)
    }
    if (row.isComplete || row.numbers.length >= end) return row.numbers.slice(list.offset, end)
    return this.#farPage(reader, list, row)
  }

  async #row(reader: Reader, list: Listing, walked: number): Promise<Row> {
    const { order } = list
    const key = `${order.sort} ${order.descending}`
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const isSorted = this.count <= this.#limits.mostKept && this.count * LOOK_COST < walked
    const row: Row = {
      order,
      numbers: isSorted ? await this.#sorted(reader, order) : [],
      isComplete: isSorted,
      after: undefined,
    }
    this.#rows.set(key, row)
    if (this.#rows.size > MOST_ROWS) this.#rows.delete(this.#rows.keys().next().value as string)
    return row
  }

  async #sorted(reader: Reader, order: UserOrder): Promise<number[]> {
    const numbers = this.#users.values()
    const places: Place[] = []
    const { stepLooks } = this.#limits
    for (let start = 0; start < numbers.length; start += stepLooks) {
      if (start > 0) await nextTurn()
      for (const place of await placesOf(reader, numbers.slice(start, start + stepLooks), order)) places.push(place)
    }
    return (await sortInTurns(places, comparePlaces(order), stepLooks)).map(numberOf)
  }

  async #walk(reader: Reader, list: Listing, row: Row): Promise<void> {
    const limit = this.#limits.stepLooks
    const places = await selectPlaces(reader, { ...list, after: row.after, offset: 0, limit })
    for (const place of places) if (this.#users.has(numberOf(place))) row.numbers.push(numberOf(place))
    row.after = places.at(-1) ?? row.after
    row.isComplete = places.length < limit
    if (!row.isComplete) await nextTurn()
  }

  /** So deep that what lies before it is passed and not kept. */
  async #farPage(reader: Reader, list: Listing, { order, numbers, after }: Row): Promise<number[]> {
    let passed = numbers.length
    const page = numbers.slice(list.offset)
    const rest: Row = { order, numbers: [], isComplete: false, after }
    while (!rest.isComplete && page.length < list.limit) {
      await this.#walk(reader, list, rest)
      page.push(...rest.numbers.slice(Math.max(0, list.offset - passed)))
      passed += rest.numbers.length
      rest.numbers = []
    }
    return page.slice(0, list.limit)
  }

  async #insert(reader: Reader, row: Row, number: number): Promise<void> {
    const compare = comparePlaces(row.order)
    const placeOf = async (of: number) => (await placesOf(reader, [of], row.order))[0] as Place
    const place = await placeOf(number)
    // The walk will meet it.
    if (!row.isComplete && (row.after === undefined || compare(place, row.after) > 0)) return
    let [low, high] = [0, row.numbers.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(await placeOf(row.numbers[middle] as number), place) < 0) low = middle + 1
      else high = middle
    }
    row.numbers.splice(low, 0, number)
  }
}
