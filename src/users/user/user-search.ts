import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { listVersion, type Place, type Run, selectPlaces, type UserOrder } from './store-user-list.ts'
import {
  countByText,
  findByText,
  highestNumber,
  indexedUpTo,
  keepByText,
  placesOf,
  sampleTexts,
} from './store-user-search.ts'
import { TextSample, trigramsOf } from './text-sample.ts'
import { type Listing, numberOf } from './user-places.ts'
import { VersionCache } from './version-cache.ts'

export interface UserSearchOptions {
  clock: Clock
  maxAgeMs: number
  counts: VersionCache<number>
  limits?: Partial<SearchLimits>
  /** Called when many users are not in the index yet: they are looked at one by one. */
  onUnindexed?: () => void
}

export interface SearchQuery extends Listing {
  organizationId: OrganizationId
  text: string
  /** Statuses and kinds, unless all are wanted. */
  groups?: readonly Run[]
  roleIds?: readonly RoleId[]
  /** How many users the organization has. */
  everybody: number
}

export interface SearchResult {
  count: number
  version: number
  /** The page; absent when it is cheaper to walk through the list. */
  numbers?: number[]
}

/** Where a walk has been: so many were met up to this place. */
interface Stop {
  met: number
  after: Place | undefined
}

export interface SearchLimits {
  /** With fewer users everything is quick and nothing needs to be estimated. */
  small: number
  /** A text that more users hold is met often enough on the way through the list. */
  mostFound: number
  alwaysSorted: number
  /** What one step looks at, so that it takes some ten milliseconds: numbers of an index, rows, rows in any order. */
  stepNumbers: number
  stepRows: number
  stepLooks: number
}

const LIMITS: SearchLimits = {
  small: 5_000,
  mostFound: 50_000,
  alwaysSorted: 500,
  stepNumbers: 100_000,
  stepRows: 20_000,
  stepLooks: 2_000,
}
const KEPT_NUMBERS = 500_000
const KEPT_WALKS = 100
const MOST_STOPS = 1_000
const ASKED_TRIGRAMS = 4
const EVERYWHERE = 0.05
const MOST_UNINDEXED = 2_000
const SAMPLED = 1_000
const SAMPLE_MS = 60_000

/** Finds users by a part of their texts. The engines' trigram indexes need three characters; less is met by walking. */
export class UserSearch {
  readonly #options: UserSearchOptions
  readonly #limits: SearchLimits
  readonly #found: VersionCache<readonly number[]>
  readonly #stops: VersionCache<Stop[]>
  #sample: { organizationId: string; sample: TextSample; takenAt: number } | undefined

  constructor(options: UserSearchOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#found = new VersionCache({ ...options, maxSize: KEPT_NUMBERS })
    this.#stops = new VersionCache({ ...options, maxSize: KEPT_WALKS })
  }

  async find(reader: Reader, query: SearchQuery): Promise<SearchResult> {
    const { groups, roleIds, offset, limit } = query
    const version = await listVersion(reader)
    const range = await this.#range(reader)
    const numbers = await this.#findAll(reader, query, version, range)
    const key = keyOf(query)
    if (numbers === undefined) {
      const count = await this.#options.counts.get(key, version, () => this.#count(reader, query, range))
      return { count, version }
    }
    const isPlain = groups === undefined && roleIds === undefined
    const count = isPlain ? numbers.length : this.#options.counts.peek(key, version)
    // Walking meets one of these every so many places; sorting looks at each of them.
    const walked = (offset + limit) * (query.everybody / Math.max(1, numbers.length))
    const isMany = numbers.length > this.#limits.alwaysSorted && numbers.length > walked
    if (count !== undefined && isMany) return { count, version }
    const order = `${query.order.sort} ${query.order.descending} ${key}`
    const sorted = await this.#found.get(order, version, () => this.#sorted(reader, numbers, query), sizeOf)
    await this.#options.counts.get(key, version, async () => sorted.length)
    return { count: sorted.length, version, numbers: sorted.slice(offset, offset + limit) }
  }

  /** The page of a text that many hold: the list is followed until enough of them were met. */
  async walk(reader: Reader, list: Listing, text: string, { count, version }: SearchResult): Promise<number[]> {
    if (list.offset >= count) return []
    const key = JSON.stringify([text, list.order, list.runs])
    const stops = await this.#stops.get(key, version, async () => [{ met: 0, after: undefined }])
    let { met, after } = stops.findLast((stop) => stop.met <= list.offset) as Stop
    const page: number[] = []
    while (page.length < list.limit) {
      const places: Place[] = await selectPlaces(reader, { ...list, after, offset: 0, limit: this.#limits.stepLooks })
      const numbers = places.map(numberOf)
      const kept = await keepByText(reader, numbers, text)
      const found = numbers.filter((number) => kept.has(number))
      page.push(...found.slice(Math.max(0, list.offset - met)))
      met += found.length
      after = places.at(-1)
      if (places.length < this.#limits.stepLooks) break
      if (met > (stops.at(-1) as Stop).met && stops.length < MOST_STOPS) stops.push({ met, after })
      await nextTurn()
    }
    return page.slice(0, list.limit)
  }

  /** All who hold the text, by number; undefined when they are too many, or the text is too short for the index. */
  async #findAll(
    reader: Reader,
    query: SearchQuery,
    version: number,
    range: Range,
  ): Promise<readonly number[] | undefined> {
    const { organizationId, text, everybody } = query
    const all = trigramsOf(text)
    if (all.length === 0) return undefined
    const key = `${organizationId} ${text}`
    const known = this.#found.peek(key, version)
    if (known !== undefined) return known.length > this.#limits.mostFound ? undefined : known
    const sample =
      everybody > this.#limits.small ? await this.#sampleOf(reader, organizationId, range.highest) : undefined
    const likely = sample === undefined ? everybody : sample.shareOf(text) * everybody
    if (sample !== undefined && likely > this.#limits.mostFound) return undefined
    const trigrams = sample?.rarest(all, ASKED_TRIGRAMS) ?? all.slice(0, ASKED_TRIGRAMS)
    // Each step of SQLite's index begins at its start, so there are only as many as the rows need that are looked at.
    const count = reader.engine === 'sqlite' ? Math.max(1, Math.ceil(likely / this.#limits.stepLooks)) : 1
    const find = async () => {
      const found: number[] = []
      for (const step of steps(range, Math.ceil(range.indexed / count), this.#limits.stepRows)) {
        const part = { organizationId, text, ...step, trigrams: step.isIndexed ? trigrams : [] }
        for (const number of await findByText(reader, part)) found.push(number)
        if (found.length > this.#limits.mostFound) break
        if (step.to < range.highest) await nextTurn()
      }
      return found
    }
    const numbers = await this.#found.get(key, version, find, sizeOf)
    return numbers.length > this.#limits.mostFound ? undefined : numbers
  }

  async #count(reader: Reader, query: SearchQuery, range: Range): Promise<number> {
    const { organizationId, text, groups: runs, roleIds } = query
    // Where every twentieth holds the text, the rows that the index would name are on every page of the table.
    const sample = this.#sample?.sample
    const isEverywhere = sample === undefined || sample.shareOf(text) > EVERYWHERE
    const trigrams = isEverywhere ? [] : sample.rarest(trigramsOf(text), ASKED_TRIGRAMS)
    const { stepRows, stepNumbers } = this.#limits
    const size = reader.engine === 'postgres' ? range.highest : trigrams.length === 0 ? stepRows : stepNumbers
    let count = 0
    for (const step of steps(range, size, stepRows)) {
      const part = { organizationId, text, ...step, trigrams: step.isIndexed ? trigrams : [] }
      count += await countByText(reader, part, { runs, roleIds })
      await nextTurn()
    }
    return count
  }

  async #range(reader: Reader): Promise<Range> {
    const highest = await highestNumber(reader)
    const indexed = Math.min(highest, await indexedUpTo(reader))
    if (highest - indexed > MOST_UNINDEXED) this.#options.onUnindexed?.()
    return { highest, indexed }
  }

  async #sorted(reader: Reader, numbers: readonly number[], query: SearchQuery): Promise<number[]> {
    const { order, groups: runs, roleIds } = query
    const places: Place[] = []
    for (let start = 0; start < numbers.length; start += this.#limits.stepLooks) {
      if (start > 0) await nextTurn()
      for (const place of await placesOf(reader, numbers.slice(start, start + this.#limits.stepLooks), order, {
        runs,
        roleIds,
      })) {
        places.push(place)
      }
    }
    return places.sort(comparePlaces(query.order)).map(numberOf)
  }

  async #sampleOf(reader: Reader, organizationId: string, highest: number): Promise<TextSample> {
    const now = this.#options.clock.elapsedMs()
    const last = this.#sample
    if (last?.organizationId === organizationId && now - last.takenAt < SAMPLE_MS) return last.sample
    const every = Math.max(1, Math.floor(highest / SAMPLED))
    const numbers = Array.from({ length: SAMPLED }, (_, index) => 1 + index * every)
    const sample = new TextSample(await sampleTexts(reader, numbers))
    this.#sample = { organizationId, sample, takenAt: now }
    return sample
  }
}

function keyOf({ organizationId, text, groups, roleIds }: SearchQuery): string {
  const kinds = groups?.map(({ status, serviceAccount }) => `${status} ${serviceAccount}`)
  return JSON.stringify([organizationId, text, kinds, roleIds])
}

function sizeOf(numbers: readonly number[]): number {
  return 1 + numbers.length
}

/** The users that there are, and those of them that the index knows, by number. */
interface Range {
  highest: number
  indexed: number
}

/** From one number to another, both inclusive. */
function* steps({ highest, indexed }: Range, indexedSize: number, size: number) {
  for (let from = 1; from <= indexed; from += indexedSize) {
    yield { from, to: Math.min(indexed, from + indexedSize - 1), isIndexed: true }
  }
  for (let from = indexed + 1; from <= highest; from += size) {
    yield { from, to: Math.min(highest, from + size - 1), isIndexed: false }
  }
}

function comparePlaces({ descending }: UserOrder): (a: Place, b: Place) => number {
  const sign = descending ? -1 : 1
  return (a, b) => {
    for (let index = 0; index < a.length; index++) {
      const order = compareValues(a[index] as string | number, b[index] as string | number)
      if (order !== 0) return sign * order
    }
    return 0
  }
}

// By code points, as the databases do; JavaScript compares halves of surrogate pairs.
function compareValues(a: string | number, b: string | number): number {
  if (a === b) return 0
  if (typeof a === 'number' || typeof b === 'number') return a < b ? -1 : 1
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (x === y) continue
    // A surrogate stands for a character above all others.
    const [isHighX, isHighY] = [(x & 0xf800) === 0xd800, (y & 0xf800) === 0xd800]
    return isHighX === isHighY ? x - y : isHighX ? 1 : -1
  }
  return a.length - b.length
}
