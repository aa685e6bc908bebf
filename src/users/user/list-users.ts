/**
 * A page of users at the same cost whether there are ten thousand or a million: places come from an index, counts from
 * tallies. What cannot be had that way (a text that very many hold, members of several roles) is worked out in short
 * steps that let other requests through, and kept until something changes.
 */
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { UserStatus } from '../../platform/auth/tables.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import type { ListCounts, Page } from '../page.ts'
import { roleTally } from '../role/store-roles.ts'
import { countRun, listVersion, type Run, type UserOrder, usersByNumber } from './store-user-list.ts'
import { usersTally } from './store-users.ts'
import type { User, UserGroup } from './user.ts'
import { searchFor } from './user-keys.ts'
import { countPlaces, type Listing, numberOf, STEP_PLACES, selectFarPlaces } from './user-places.ts'
import { type SearchLimits, UserSearch } from './user-search.ts'
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
  db: Pick<Database, 'engine'>
  clock: Clock
  /** Smaller ones make a test go the ways of a large table. */
  limits?: Partial<SearchLimits> & { places?: number }
  onUnindexed?: () => void
}

export interface UserList extends ListCounts {
  users: User[]
}

const STATUSES: readonly UserStatus[] = ['Active', 'Disabled', 'Pending']
const KINDS = [false, true]
const CACHED_COUNTS = 1_000

export class UserLister {
  readonly #counts: VersionCache<number>
  readonly #search: UserSearch
  readonly #step: number

  constructor({ db, clock, limits = {}, onUnindexed }: UserListerOptions) {
    // Numbers of audit events are given out before the commit on PostgreSQL, so one may appear behind a later one.
    const maxAgeMs = db.engine === 'sqlite' ? Number.POSITIVE_INFINITY : 1_000
    this.#counts = new VersionCache({ clock, maxAgeMs, maxSize: CACHED_COUNTS })
    this.#search = new UserSearch({ clock, maxAgeMs, counts: this.#counts, limits, onUnindexed })
    this.#step = limits.places ?? STEP_PLACES
  }

  /** To be given a snapshot, so that page and counts agree. */
  async list(reader: Reader, organizationId: OrganizationId, query: UserQuery): Promise<UserList> {
    const groups = STATUSES.flatMap((status) =>
      KINDS.map((serviceAccount) => ({ organizationId, status, serviceAccount })),
    )
    const { memberOf, page, order } = query
    const roleIds = memberOf ? [memberOf] : query.roleIds && [...new Set(query.roleIds)]
    const oneRole = roleIds?.length === 1 ? roleTally(roleIds[0] as RoleId) : undefined
    const tallies = await readTallies(reader, [...groups.map(usersTally), ...(oneRole ? [oneRole] : [])])
    const sizeOf = (group: UserGroup) => tallies.get(usersTally(group)) as number
    const everybody = sum(groups.map(sizeOf))
    const members = oneRole === undefined ? undefined : tallies.get(oneRole)
    const total = memberOf ? (members as number) : everybody

    const present = groups.filter((group) => sizeOf(group) > 0)
    const wanted = present.filter((group) => isWanted(query, group))
    const runs = roleIds?.flatMap((roleId) => wanted.map((group) => ({ ...group, roleId }))) ?? wanted
    const text = searchFor(query.filter ?? '')
    if (text === undefined || runs.length === 0) return { users: [], total, filtered: 0 }

    const list = { organizationId, runs, order, offset: page.size * page.number, limit: page.size }
    const isAll = wanted.length === present.length
    const untold = roleIds === undefined ? sum(wanted.map(sizeOf)) : isAll ? members : undefined
    if (text === '') {
      const filtered = untold ?? (await this.#countMembers(reader, list))
      return { users: await this.#page(reader, organizationId, list, filtered), total, filtered }
    }
    const groupsAsked = isAll ? undefined : wanted
    const found = await this.#search.find(reader, { ...list, text, groups: groupsAsked, roleIds, everybody })
    const filtered = found.count
    // When everybody in the list holds the text, it is the list without the text.
    if (found.numbers === undefined && filtered === untold) {
      return { users: await this.#page(reader, organizationId, list, filtered), total, filtered }
    }
    const numbers = found.numbers ?? (await this.#search.walk(reader, list, text, found))
    return { users: await usersByNumber(reader, organizationId, numbers), total, filtered }
  }

  async #page(reader: Reader, organizationId: OrganizationId, list: Listing, count: number): Promise<User[]> {
    if (list.offset >= count) return []
    const places = await selectFarPlaces(reader, list, this.#step)
    return usersByNumber(reader, organizationId, places.map(numberOf))
  }

  async #countMembers(reader: Reader, { runs }: Listing): Promise<number> {
    const members = runs as (Run & { roleId: RoleId })[]
    const key = `members ${members.map(({ roleId, status, serviceAccount }) => `${roleId} ${status} ${serviceAccount}`)}`
    return this.#counts.get(key, await listVersion(reader), async () => {
      const isOneRole = members.every(({ roleId }) => roleId === members[0]?.roleId)
      if (!isOneRole) return countPlaces(reader, runs, this.#step)
      let count = 0
      for (const run of members) count += await countRun(reader, run)
      return count
    })
  }
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
