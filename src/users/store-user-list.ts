/** What lists of users are made of. Every order has an index, so that a place in it is found without sorting. */
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { RoleId } from '../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../platform/auth/principal.ts'
import type { UserStatus, UsersTable } from '../platform/auth/tables.ts'
import type { Reader } from '../platform/storage/database.ts'
import { toUser } from './store-users.ts'
import type { User } from './user.ts'

export type UserSort =
  | 'name'
  | 'title'
  | 'email'
  | 'handle'
  | 'status'
  | 'created_at'
  | 'modified_at'
  | 'last_login_time'

export interface UserOrder {
  sort: UserSort
  descending: boolean
}

/** Users of one status and kind, of the organization or of a role: an index holds each run in the order of any list. */
export interface Run {
  status: UserStatus
  serviceAccount: boolean
  roleId?: RoleId
}

/** The values that a user is sorted by; the last is the number of the user. */
export type Place = readonly (string | number)[]

// Behind the last of them come age and number, which never tie.
const KEYS: Record<UserSort, string> = {
  name: 'name_key',
  title: 'title_key',
  email: 'email_key',
  handle: 'handle_key',
  status: 'status',
  created_at: 'created_at',
  modified_at: 'modified_at',
  last_login_time: 'login_key',
}

export function placeColumns(sort: UserSort, of: 'users' | 'user_roles'): string[] {
  const [age, number] = of === 'users' ? ['created_at', 'number'] : ['user_created_at', 'user_number']
  return sort === 'created_at' ? [age, number] : [KEYS[sort], age, number]
}

export interface PlacesQuery {
  organizationId: OrganizationId
  runs: readonly Run[]
  order: UserOrder
  /** Only those that come later. */
  after?: Place
  offset: number
  limit: number
}

/** Places in the list, read from the indexes alone: runs are merged, and whoever is in several of them counts once. */
export async function selectPlaces(reader: Reader, query: PlacesQuery): Promise<Place[]> {
  const { order, runs, offset, limit } = query
  if (runs.length === 0) return []
  const isOnePerUser = new Set(runs.map(({ roleId }) => roleId)).size === 1
  const names = ['p0', 'p1', 'p2'].slice(0, placeColumns(order.sort, 'users').length)
  const direction = sql.raw(order.descending ? ' desc' : '')
  const { rows } = await sql<Record<string, string | number>>`
    ${sql.join(
      runs.map((run) => selectRun(query, run, names)),
      isOnePerUser ? sql` union all ` : sql` union `,
    )}
    order by ${sql.join(names.map((name) => sql`${sql.ref(name)}${direction}`))}
    limit ${limit} offset ${offset}`.execute(reader.query)
  return rows.map((row) => names.map((name) => row[name] as string | number))
}

function selectRun({ organizationId, order, after }: PlacesQuery, run: Run, names: string[]): RawBuilder<unknown> {
  const table = run.roleId === undefined ? 'users' : 'user_roles'
  const columns = placeColumns(order.sort, table).map((name) => sql.ref(name))
  const owner =
    run.roleId === undefined ? sql`organization_id = ${organizationId}` : sql`role_id = ${sql.val(run.roleId)}`
  const later = after && sql` and (${sql.join(columns)}) ${sql.raw(order.descending ? '<' : '>')} (${sql.join(after)})`
  return sql`
    select ${sql.join(columns.map((column, index) => sql`${column} as ${sql.ref(names[index] as string)}`))}
    from ${sql.table(table)}
    where ${owner} and status = ${run.status} and service_account = ${run.serviceAccount ? 1 : 0}${later ?? sql``}`
}

/** In the order of the numbers. */
export async function usersByNumber(reader: Reader, numbers: readonly number[]): Promise<User[]> {
  const { rows } = await sql<Selectable<UsersTable>>`
    select * from users where number in ${numberList(reader, numbers)}`.execute(reader.query)
  const byNumber = new Map(rows.map((row) => [row.number, row]))
  return numbers.flatMap((number) => {
    const row = byNumber.get(number)
    return row === undefined ? [] : [toUser(row)]
  })
}

/** How many hold a role, of the given runs. */
export async function countRun(reader: Reader, run: Run & { roleId: RoleId }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from user_roles
    where role_id = ${run.roleId} and status = ${run.status} and service_account = ${run.serviceAccount ? 1 : 0}`.execute(
    reader.query,
  )
  return rows[0]?.count ?? 0
}

/** A number that differs after every change of a user or a membership, since each is audited. */
export async function listVersion(reader: Reader): Promise<number> {
  const { rows } = await sql<{ version: number | null }>`
    select max(position) as version from audit_events`.execute(reader.query)
  return rows[0]?.version ?? 0
}

/** The numbers as one parameter, so that lists of any length share a statement. */
export function numberList(reader: Reader, numbers: readonly number[]): RawBuilder<unknown> {
  const list = JSON.stringify(numbers)
  return reader.engine === 'sqlite'
    ? sql`(select value from json_each(${list}))`
    : sql`(select value::bigint from json_array_elements_text(${list}::json))`
}
