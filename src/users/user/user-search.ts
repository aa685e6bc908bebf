import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { FoundUsers } from './found-users.ts'
import { KeptSearches, type Search } from './kept-searches.ts'
import { NumberSet } from './number-set.ts'
import { type MemberStep, nextMembers, type Run } from './store-user-list.ts'
import { findByText, highestNumber, indexedUpTo, keepByText, sampleTexts } from './store-user-search.ts'
import { TextSample, trigramsOf } from './text-sample.ts'
import type { Listing } from './user-places.ts'

export interface UserSearchOptions {
  engine: Engine
  clock: Clock
  limits?: Partial<SearchLimits>
  /** Called when many users are not in the index yet: they are looked at one by one. */
  onUnindexed?: () => void
}

export interface SearchQuery extends Listing {
  organizationId: OrganizationId
  /** Empty for members of several roles, of whom nobody keeps a count. */
  text: string
  /** Statuses and kinds, unless all are wanted. */
  groups?: readonly Run[]
  roleIds?: readonly RoleId[]
  /** How many users the organization has. */
  everybody: number
  /** How many the list has without the text, where that is known. */
  untold?: number
}

export interface SearchResult {
  count: number
  /** The page; absent when everybody in the list was found. */
  numbers?: number[]
}

export interface SearchLimits {
  /** With fewer users everything is quick and nothing needs to be estimated. */
  small: number
  mostKept: number
  /** What one step looks at, so that it takes some ten milliseconds: rows in their order, or in any. */
  stepRows: number
  stepLooks: number
}

const LIMITS: SearchLimits = {
  small: 5_000,
  mostKept: 100_000,
  stepRows: 20_000,
  stepLooks: 2_000,
}
const ASKED_TRIGRAMS = 4
const EVERYWHERE = 0.05
const MOST_UNINDEXED = 2_000
const SAMPLED = 1_000
const SAMPLE_MS = 60_000

/**
 * Finds users by a part of their texts. The first who asks waits until all of them were looked up, in the trigram index
 * of the engine or, where very many hold the text or it is too short for the index, in the texts themselves. From then
 * on the answer is kept, and follows the changes of users one by one.
 */
export class UserSearch {
  readonly #options: UserSearchOptions
  readonly #limits: SearchLimits
  readonly #kept: KeptSearches
  #sample: { organizationId: string; sample: TextSample; takenAt: number } | undefined

  constructor(options: UserSearchOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#kept = new KeptSearches(options)
  }

  async find(reader: Reader, query: SearchQuery): Promise<SearchResult> {
    const { organizationId, text, groups, roleIds, everybody, untold } = query
    const kinds = groups?.map(({ status, serviceAccount }) => `${status} ${serviceAccount}`)
    const search: Search = {
      key: JSON.stringify([organizationId, text, kinds, roleIds]),
      organizationId,
      roleIds,
      find: async () => new FoundUsers(await this.#findAll(reader, query), this.#limits),
      findAmong: (numbers) => keepByText(reader, numbers, text, { runs: groups, roleIds }),
    }
    return this.#kept.use(reader, search, async (found) => {
      if (text === '' || found.count === untold) return { count: found.count }
      return { count: found.count, numbers: await found.page(reader, query, untold ?? everybody) }
    })
  }

  async #findAll(reader: Reader, query: SearchQuery): Promise<NumberSet> {
    return query.text === '' ? this.#members(reader, query) : this.#holders(reader, query)
  }

  async #members(reader: Reader, { runs }: SearchQuery): Promise<NumberSet> {
    const members = new NumberSet()
    for (const run of runs as (Run & { roleId: RoleId })[]) {
      let after: MemberStep | undefined
      do {
        if (after !== undefined) await nextTurn()
        after = await nextMembers(reader, run, this.#limits.stepRows, after)
        for (const number of after.numbers) members.add(number)
      } while (after.numbers.length === this.#limits.stepRows)
    }
    return members
  }

  async #holders(reader: Reader, query: SearchQuery): Promise<NumberSet> {
    const { organizationId, text, groups: runs, roleIds, everybody } = query
    const range = await this.#range(reader)
    const { trigrams, likely } = await this.#plan(reader, query, range.highest)
    const holders = new NumberSet()
    for (const step of steps(range, this.#stepSize(reader, range, trigrams, likely), this.#limits.stepRows)) {
      const part = { organizationId, text, ...step, trigrams: step.isIndexed ? trigrams : [] }
      for (const number of await findByText(reader, part, { runs, roleIds })) holders.add(number)
      if (step.to < range.highest && everybody > this.#limits.small) await nextTurn()
    }
    return holders
  }

  /** What to ask the index for: nothing where so many hold the text that their rows are on every page of the table. */
  async #plan(reader: Reader, { organizationId, text, everybody }: SearchQuery, highest: number) {
    const all = trigramsOf(text)
    if (everybody <= this.#limits.small) return { trigrams: all.slice(0, ASKED_TRIGRAMS), likely: everybody }
    const sample = await this.#sampleOf(reader, organizationId, highest)
    const share = sample.shareOf(text)
    return { trigrams: share > EVERYWHERE ? [] : sample.rarest(all, ASKED_TRIGRAMS), likely: share * everybody }
  }

  #stepSize(reader: Reader, { highest, indexed }: Range, trigrams: readonly string[], likely: number): number {
    if (trigrams.length === 0) return this.#limits.stepRows
    if (reader.engine === 'postgres') return highest
    // Each step of SQLite's index begins at its start, so there are only as many as the rows need that are looked at.
    return Math.ceil(indexed / Math.max(1, Math.ceil(likely / this.#limits.stepLooks)))
  }

  async #range(reader: Reader): Promise<Range> {
    const highest = await highestNumber(reader)
    const indexed = Math.min(highest, await indexedUpTo(reader))
    if (highest - indexed > MOST_UNINDEXED) this.#options.onUnindexed?.()
    return { highest, indexed }
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
