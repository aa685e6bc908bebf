/**
 * A page of users at the same cost whether there are ten thousand or a million: places come from an index, counts from
 * tallies. What cannot be had that way (a text that very many hold, members of several roles) is worked out once, in short
 * steps that let other requests through, and follows what changes from then on.
 */
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { UserStatus } from '../../platform/auth/tables.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Waiting } from '../../platform/http/entry/waiting-of.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import type { ListCounts, Page } from '../page.ts'
import { findRoles, roleTally } from '../role/store-roles.ts'
import { readFresh } from './read-fresh.ts'
import { type Caller, SearchTurns } from './search-turns.ts'
import { countRun, listVersion, type Run, type UserOrder, usersByNumber } from './store-user-list.ts'
import { usersTally } from './store-users.ts'
import type { User, UserGroup } from './user.ts'
import { searchFor } from './user-keys.ts'
import { type Listing, numberOf, STEP_PLACES, selectFarPlaces } from './user-places.ts'
import { type SearchLimits, type SearchQuery, UserSearch } from './user-search.ts'
import { VersionCache } from './version-cache.ts'

export interface UserQuery {
  page: Page
  order: UserOrder
  /** Part of the name, the email or the handle. */
  filter?: string
  statuses?: readonly UserStatus[]
  serviceAccount?: boolean
  /** Whoever has any of them. */
  roleIds?: readonly RoleId[]
  /** Members of one role: `total` counts them instead of all users. */
  memberOf?: RoleId
}

export interface UserListerOptions {
  db: Pick<Database, 'engine' | 'read'>
  clock: Clock
  /** Smaller ones make a test go the ways of a large table. */
  limits?: Partial<SearchLimits>
  onUnindexed?: () => void
}

export interface UserList extends ListCounts {
  users: User[]
}

const STATUSES: readonly UserStatus[] = ['Active', 'Disabled', 'Pending']
const KINDS = [false, true]
const CACHED_COUNTS = 1_000
const PATIENT: Waiting = { gone: new AbortController().signal, judgeAgain: async () => {} }

export class UserLister {
  readonly #db: Pick<Database, 'read'>
  readonly #counts: VersionCache<number>
  readonly #turns: SearchTurns
  readonly #search: UserSearch
  readonly #step: number

  constructor({ db, clock, limits = {}, onUnindexed }: UserListerOptions) {
    this.#db = db
    // Numbers of audit events are given out before the commit on PostgreSQL, so one may appear behind a later one.
    const maxAgeMs = db.engine === 'sqlite' ? Number.POSITIVE_INFINITY : 1_000
    this.#counts = new VersionCache({ clock, maxAgeMs, mostKept: CACHED_COUNTS })
    this.#turns = new SearchTurns(clock)
    this.#search = new UserSearch({ engine: db.engine, clock, limits, onUnindexed })
    this.#step = limits.stepRows ?? STEP_PLACES
  }

  /**
   * A list, and what is made of it out of the same snapshot. Few snapshots can be open at the same time: whoever searches, or
   * wants so late a page that others have their turn before it, waits without one, and gets none when they have gone by then,
   * or may not have it.
   */
  async read<T>(
    caller: Caller,
    query: UserQuery,
    work: (snapshot: Reader, list: UserList) => Promise<T>,
    waiting = PATIENT,
  ): Promise<T> {
    const isLong = isSearch(query) || query.page.size * query.page.number > this.#step
    const endTurn = isLong ? await this.#turns.take(caller, waiting.gone) : undefined
    try {
      if (isLong) await waiting.judgeAgain()
      return await readFresh(this.#db, async (snapshot) =>
        work(snapshot, await this.list(snapshot, caller.organizationId, query)),
      )
    } finally {
      endTurn?.()
    }
  }

  /** To be given a snapshot, so that page and counts agree. */
  async list(reader: Reader, organizationId: OrganizationId, query: UserQuery): Promise<UserList> {
    const groups = STATUSES.flatMap((status) =>
      KINDS.map((serviceAccount) => ({ organizationId, status, serviceAccount })),
    )
    const { memberOf, page, order } = query
    const roleIds = await existing(reader, organizationId, memberOf ? [memberOf] : query.roleIds)
    const oneRole = roleIds?.length === 1 ? roleTally(roleIds[0] as RoleId) : undefined
    const tallies = await readTallies(reader, [...groups.map(usersTally), ...(oneRole ? [oneRole] : [])])
    const sizeOf = (group: UserGroup) => tallies.get(usersTally(group)) as number
    const everybody = sum(groups.map(sizeOf))
    const members = oneRole === undefined ? undefined : tallies.get(oneRole)
    const total = memberOf ? (members ?? 0) : everybody

    const present = groups.filter((group) => sizeOf(group) > 0)
    const wanted = present.filter((group) => isWanted(query, group))
    const runs = roleIds?.flatMap((roleId) => wanted.map((group) => ({ ...group, roleId }))) ?? wanted
    const text = searchFor(query.filter ?? '')
    if (text === undefined || runs.length === 0) return { users: [], total, filtered: 0 }

    const list = { organizationId, runs, order, offset: page.size * page.number, limit: page.size }
    const isAll = wanted.length === present.length
    const untold = roleIds === undefined ? sum(wanted.map(sizeOf)) : isAll ? members : undefined
    const groupsAsked = isAll ? undefined : wanted
    const search = { ...list, text, groups: groupsAsked, roleIds, everybody, untold }
    if (text !== '') {
      const { count, numbers } = await this.#search.find(reader, search)
      if (numbers !== undefined) {
        return { users: await usersByNumber(reader, organizationId, numbers), total, filtered: count }
      }
      // Everybody in the list holds the text, so it is the list without the text.
      return { users: await this.#page(reader, organizationId, list, count), total, filtered: count }
    }
    const filtered = untold ?? (await this.#countMembers(reader, search))
    return { users: await this.#page(reader, organizationId, list, filtered), total, filtered }
  }

  async #page(reader: Reader, organizationId: OrganizationId, list: Listing, count: number): Promise<User[]> {
    if (list.offset >= count) return []
    const places = await selectFarPlaces(reader, list, this.#step)
    return usersByNumber(reader, organizationId, places.map(numberOf))
  }

  async #countMembers(reader: Reader, search: SearchQuery): Promise<number> {
    const members = search.runs as (Run & { roleId: RoleId })[]
    const isOneRole = members.every(({ roleId }) => roleId === members[0]?.roleId)
    if (!isOneRole) return (await this.#search.find(reader, search)).count
    const key = `members ${members.map(({ roleId, status, serviceAccount }) => `${roleId} ${status} ${serviceAccount}`)}`
    return this.#counts.get(key, await listVersion(reader), async () => {
      let count = 0
      for (const run of members) count += await countRun(reader, run)
      return count
    })
  }
}

/** The places of everything else come from an index, its counts from tallies. */
function isSearch({ filter = '', roleIds = [] }: UserQuery): boolean {
  const text = searchFor(filter)
  return text !== undefined && (text !== '' || roleIds.length > 1)
}

/** Whoever had a role that was deleted may still be marked as having it. */
async function existing(
  reader: Reader,
  organizationId: OrganizationId,
  roleIds: readonly RoleId[] | undefined,
): Promise<RoleId[] | undefined> {
  return roleIds && (await findRoles(reader, organizationId, roleIds)).map(({ id }) => id).sort()
}

function isWanted({ statuses, serviceAccount }: UserQuery, group: UserGroup): boolean {
  return (
    (statuses === undefined || statuses.includes(group.status)) &&
    (serviceAccount === undefined || group.serviceAccount === serviceAccount)
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
