import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { Turns } from '../../platform/clock/turns.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import type { FoundUsers } from './found-users.ts'
import { OldSnapshot } from './read-fresh.ts'
import { eventsBetween, numbersOf, type RecentEvent } from './store-user-changes.ts'
import { listVersion } from './store-user-list.ts'

export interface Search {
  key: string
  organizationId: OrganizationId
  roleIds?: readonly RoleId[]
  /** From the beginning. */
  find(): Promise<FoundUsers>
  findAmong(numbers: readonly number[]): Promise<Set<number>>
}

interface Kept {
  found: FoundUsers
  /** Of the data that it is true for. */
  version: number
  /** Events up to that version, as far as it may still miss some before them. */
  seen: Set<number>
  /** How many came with an older version since it was used. */
  refusals: number
  foundAt: number
  usedAt: number
}

const MOST_BYTES = 16_000_000
// Most questions that anybody makes up find nobody, and would take no room by what they found.
export const MOST_SEARCHES = 1_000
const BYTES_PER_CHARACTER = 2
const BYTES_PER_EVENT = 24
// More take longer to follow than to begin anew.
const MOST_EVENTS = 5_000
// The log may have lost its newest events, to retention or a restored backup: then no snapshot is ever new enough.
const MOST_REFUSALS = 5
// Long before the events that it would follow are so old that retention removes them.
const IDLE_MS = 600_000
// PostgreSQL gives an event its number before the commit, so one may appear behind a later one: so many are looked at
// again each time, and nothing is kept so long that a still later one would be missed for ever.
const LATE_EVENTS = 500
const LATE_MS = 60_000

/** Searches that were made, most recently used last, each brought to the state of the data before it is used again. */
export class KeptSearches {
  readonly #clock: Clock
  readonly #late: number
  readonly #longestMs: number
  readonly #kept = new Map<string, Kept>()
  readonly #turns = new Turns()

  constructor({ engine, clock }: { engine: Engine; clock: Clock }) {
    this.#clock = clock
    this.#late = engine === 'sqlite' ? 0 : LATE_EVENTS
    this.#longestMs = engine === 'sqlite' ? Number.POSITIVE_INFINITY : LATE_MS
  }

  /** Whoever wants the same search waits for their turn, so nobody meets one that is just being changed. */
  use<T>(reader: Reader, search: Search, work: (found: FoundUsers) => Promise<T>): Promise<T> {
    return this.#turns.run(search.key, () => this.#use(reader, search, work))
  }

  async #use<T>(reader: Reader, search: Search, work: (found: FoundUsers) => Promise<T>): Promise<T> {
    const version = await listVersion(reader)
    const known = this.#kept.get(search.key)
    if (known !== undefined && known.version > version && ++known.refusals <= MOST_REFUSALS) throw new OldSnapshot()
    // One that fails half-way is not put back.
    this.#kept.delete(search.key)
    const isFollowed =
      known !== undefined && this.#isUsable(known, version) && (await this.#follow(reader, search, known, version))
    const kept = isFollowed ? known : await this.#begin(reader, search, version)
    const result = await work(kept.found)
    kept.version = version
    kept.refusals = 0
    kept.usedAt = this.#clock.elapsedMs()
    this.#kept.set(search.key, kept)
    this.#dropOldest()
    return result
  }

  #isUsable(kept: Kept, version: number): boolean {
    const now = this.#clock.elapsedMs()
    return kept.version <= version && now - kept.foundAt <= this.#longestMs && now - kept.usedAt <= IDLE_MS
  }

  async #begin(reader: Reader, search: Search, version: number): Promise<Kept> {
    const now = this.#clock.elapsedMs()
    const late = this.#late === 0 ? [] : await eventsBetween(reader, version - this.#late, version)
    const seen = new Set(late?.map(({ position }) => position))
    return { found: await search.find(), version, seen, refusals: 0, foundAt: now, usedAt: now }
  }

  /** False when it is better to begin anew. */
  async #follow(reader: Reader, search: Search, kept: Kept, version: number): Promise<boolean> {
    const from = kept.version - this.#late
    if (version - from > MOST_EVENTS) return false
    const events = await eventsBetween(reader, from, version)
    if (events === undefined) return false
    const news = events.filter(({ position }) => !kept.seen.has(position))
    if (this.#late > 0) kept.seen = new Set(events.slice(-this.#late).map(({ position }) => position))
    if (news.some(({ deletedRole }) => deletedRole !== undefined && search.roleIds?.includes(deletedRole))) return false
    await followEvents(reader, search, kept.found, news)
    return true
  }

  #dropOldest(): void {
    let bytes = 0
    for (const [key, kept] of this.#kept) bytes += bytesOf(key, kept)
    for (const [key, kept] of this.#kept) {
      if (bytes <= MOST_BYTES && this.#kept.size <= MOST_SEARCHES) return
      bytes -= bytesOf(key, kept)
      this.#kept.delete(key)
    }
  }
}

function bytesOf(key: string, { found, seen }: Kept): number {
  return found.bytes + key.length * BYTES_PER_CHARACTER + seen.size * BYTES_PER_EVENT
}

async function followEvents(reader: Reader, search: Search, found: FoundUsers, events: RecentEvent[]): Promise<void> {
  if (events.length === 0) return
  const userIds = new Set(events.flatMap((event) => event.userIds))
  const changed = await numbersOf(reader, search.organizationId, [...userIds])
  await found.follow(reader, new Set(changed), await search.findAmong(changed))
}
