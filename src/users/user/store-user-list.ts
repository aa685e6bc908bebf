/** What lists of users are made of. Every order has an index, so that a place in it is found without sorting. */
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { UsersTable } from '../../platform/auth/tables.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { toUser } from './store-users.ts'
import type { User, UserGroup } from './user.ts'
import { listGroup } from './user-keys.ts'

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
export interface Run extends UserGroup {
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
  const names = ['p0', 'p1', 'p2'].slice(0, placeColumns(order.sort, 'users').length)
  const direction = sql.raw(order.descending ? ' desc' : '')
  const ordered = sql`order by ${sql.join(names.map((name) => sql`${sql.ref(name)}${direction}`))}`
  const selects = runs.flatMap((run) => selectRun(query, run, names))
  const merged = reader.engine === 'sqlite' ? mergeOnSqlite(runs, selects) : mergeOnPostgres(runs, selects, ordered)
  const { rows } = await sql<Record<string, string | number>>`
    ${merged} ${ordered} limit ${limit} offset ${offset}`.execute(reader.query)
  return rows.map((row) => names.map((name) => row[name] as string | number))
}

/** Members of several roles may be in more than one of the runs. */
function mayRepeat(runs: readonly Run[]): boolean {
  return runs.some(({ roleId }) => roleId !== runs[0]?.roleId)
}

function mergeOnSqlite(runs: readonly Run[], selects: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(selects, mayRepeat(runs) ? sql` union ` : sql` union all `)
}

// PostgreSQL merges runs only when each of them is said to be in order.
function mergeOnPostgres(
  runs: readonly Run[],
  selects: RawBuilder<unknown>[],
  ordered: RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (selects.length === 1) return selects[0] as RawBuilder<unknown>
  const each = selects.map((select) => sql`(${select} ${ordered})`)
  return sql`select ${sql.raw(mayRepeat(runs) ? 'distinct ' : '')}* from (${sql.join(each, sql` union all `)}) runs`
}

function selectRun(query: PlacesQuery, run: Run, names: string[]): RawBuilder<unknown>[] {
  const { sort } = query.order
  if (run.roleId !== undefined) return [selectPart(query, run, names, placeColumns(sort, 'user_roles'))]
  if (sort !== 'handle') return [selectPart(query, run, names, placeColumns(sort, 'users'))]
  // Literally, or the engines would not see that the index of those with handles of their own is good for it.
  return [
    selectPart(query, run, names, placeColumns('email', 'users'), sql` and own_handle = 0`),
    selectPart(query, run, names, placeColumns('handle', 'users'), sql` and own_handle = 1`),
  ]
}

function selectPart(
  { order, after }: PlacesQuery,
  run: Run,
  names: string[],
  place: string[],
  part = sql``,
): RawBuilder<unknown> {
  const table = run.roleId === undefined ? 'users' : 'user_roles'
  const columns = place.map((name) => sql.ref(name))
  const owner = run.roleId === undefined ? sql`` : sql`role_id = ${sql.val(run.roleId)} and `
  // All of a group have its status; the index that serves two orders has it before the age and has to be told.
  const isByAge = order.sort === 'created_at'
  const later = after && sql` and (${sql.join(columns)}) ${sql.raw(order.descending ? '<' : '>')} (${sql.join(after)})`
  return sql`
    select ${sql.join(columns.map((column, index) => sql`${column} as ${sql.ref(names[index] as string)}`))}
    from ${sql.table(table)}
    where ${owner}list_group = ${listGroup(run)}${part}${isByAge ? sql` and status = ${run.status}` : sql``}${later ?? sql``}`
}

/** In the order of the numbers. */
export async function usersByNumber(
  reader: Reader,
  organizationId: OrganizationId,
  numbers: readonly number[],
): Promise<User[]> {
  const { rows } = await sql<Selectable<UsersTable>>`
    select * from users
    where number in ${numbersIn(reader.engine, JSON.stringify(numbers))} and organization_id = ${organizationId}`.execute(
    reader.query,
  )
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
    where role_id = ${run.roleId} and list_group = ${listGroup(run)}`.execute(reader.query)
  return rows[0]?.count ?? 0
}

export interface MemberStep {
  numbers: number[]
  /** When the last of them was created. */
  age: number | null
}

/** The next members of a run, by age; behind the last of the step before. */
export async function nextMembers(
  reader: Reader,
  run: Run & { roleId: RoleId },
  limit: number,
  after?: MemberStep,
): Promise<MemberStep> {
  const last = after && sql` and (user_created_at, user_number) > (${after.age}, ${after.numbers.at(-1)})`
  const { rows } = await sql<{ list: string; age: number | null }>`
    select ${listOf(reader, 'user_number')} as list, max(user_created_at) as age
    from (
      select user_created_at, user_number from user_roles
      where role_id = ${run.roleId} and list_group = ${listGroup(run)} and status = ${run.status} ${last ?? sql``}
      order by user_created_at, user_number limit ${limit}) members`.execute(reader.query)
  const { list = '[]', age = null } = rows[0] ?? {}
  return { numbers: JSON.parse(list) as number[], age }
}

/** All as one value, in JSON: a row for each would take twice as long. */
export function listOf(reader: Reader, column: string): RawBuilder<string> {
  return reader.engine === 'sqlite'
    ? sql`json_group_array(${sql.ref(column)})`
    : sql`coalesce(json_agg(${sql.ref(column)}), '[]')::text`
}

/** A number that differs after every change of a user or a membership, since each is audited. */
export async function listVersion(reader: Reader): Promise<number> {
  const { rows } = await sql<{ version: number | null }>`
    select max(position) as version from audit_events`.execute(reader.query)
  return rows[0]?.version ?? 0
}
