/** Users by a part of their name, email or handle, through the trigram index of the engine. */
import { type RawBuilder, sql } from 'kysely'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { listOf, type Place, placeColumns, type Run, type UserOrder } from './store-user-list.ts'
import { listGroup } from './user-keys.ts'

export interface TextSearch {
  organizationId: OrganizationId
  /** Folded, as `search_text` is. */
  text: string
  /** Parts of the text, three characters each, that the index is asked for; empty for a text that is too short. */
  trigrams: readonly string[]
  /** Numbers of users, both inclusive. */
  from: number
  to: number
}

export interface SearchFilter {
  /** Statuses and kinds; absent for all. */
  runs?: readonly Run[]
  roleIds?: readonly RoleId[]
}

/** The numbers of all that hold the text and that the filter lets through. */
export async function findByText(reader: Reader, search: TextSearch, filter: SearchFilter): Promise<number[]> {
  const { rows } = await sql<{ list: string }>`
    select ${listOf(reader, 'u.number')} as list ${matching(reader, search)} ${filtered(reader, filter)}`.execute(
    reader.query,
  )
  return JSON.parse(rows[0]?.list ?? '[]') as number[]
}

/** Those of the numbers that hold the text and that the filter lets through. */
export async function keepByText(
  reader: Reader,
  numbers: readonly number[],
  text: string,
  filter: SearchFilter,
): Promise<Set<number>> {
  const { rows } = await sql<{ number: number }>`
    select u.number from users u
    where u.number in ${numbersIn(reader.engine, JSON.stringify(numbers))} and ${contains(reader, text)} ${filtered(reader, filter)}`.execute(
    reader.query,
  )
  return new Set(rows.map((row) => row.number))
}

/** In no order. */
export async function placesOf(reader: Reader, numbers: readonly number[], { sort }: UserOrder): Promise<Place[]> {
  const columns = placeColumns(sort, 'users').map((name) => sql.ref(`u.${name}`))
  const names = ['p0', 'p1', 'p2'].slice(0, columns.length)
  const { rows } = await sql<Record<string, string | number>>`
    select ${sql.join(columns.map((column, index) => sql`${column} as ${sql.ref(names[index] as string)}`))}
    from users u where u.number in ${numbersIn(reader.engine, JSON.stringify(numbers))}`.execute(reader.query)
  return rows.map((row) => names.map((name) => row[name] as string | number))
}

/** Texts of users here and there, to know what is common. */
export async function sampleTexts(reader: Reader, numbers: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select u.search_text as text from users u where u.number in ${numbersIn(reader.engine, JSON.stringify(numbers))}`.execute(
    reader.query,
  )
  return rows.map((row) => row.text)
}

/** Up to which number the index knows the users; it is told of new ones some time after they were made. */
export async function indexedUpTo(reader: Reader): Promise<number> {
  if (reader.engine === 'postgres') return Number.MAX_SAFE_INTEGER
  const { rows } = await sql<{ mark: number | null }>`
    select max(id) as mark from users_search_docsize`.execute(reader.query)
  return rows[0]?.mark ?? 0
}

/** Tells the index of the users behind those that it knows. Answers whether it knows all of them now. */
export async function indexUsers(tx: Transaction, limit: number): Promise<boolean> {
  const mark = await indexedUpTo(tx)
  await sql`
    insert into users_search (rowid, search_text)
    select number, search_text from users where number > ${mark} order by number limit ${limit}`.execute(tx.query)
  return (await indexedUpTo(tx)) === (await highestNumber(tx))
}

export async function highestNumber(reader: Reader): Promise<number> {
  const { rows } = await sql<{ highest: number | null }>`select max(number) as highest from users`.execute(reader.query)
  return rows[0]?.highest ?? 0
}

function matching(reader: Reader, search: TextSearch): RawBuilder<unknown> {
  const { organizationId, text, trigrams, from, to } = search
  const isIndexed = reader.engine === 'sqlite' && trigrams.length > 0
  const number = isIndexed ? sql.ref('s.rowid') : sql.ref('u.number')
  // SQLite would follow an index of the organization, which everybody is in; the plus keeps it from that.
  const organization = sql.raw(reader.engine === 'sqlite' ? '+u.organization_id' : 'u.organization_id')
  return sql`
    from ${isIndexed ? sql`users_search s join users u on u.number = s.rowid` : sql`users u`}
    where ${isIndexed ? sql`users_search match ${trigrams.map(quoted).join(' ')} and ` : sql``}
      ${number} between ${from} and ${to} and ${organization} = ${organizationId} and ${contains(reader, text)}`
}

function filtered(reader: Reader, { runs, roleIds }: SearchFilter): RawBuilder<unknown> {
  const groups = runs?.map((run) => listGroup(run))
  // Those that were found are looked at by number; SQLite would go through all of the group instead.
  const group = sql.raw(reader.engine === 'sqlite' ? '+u.list_group' : 'u.list_group')
  return sql`
    ${groups === undefined ? sql`` : sql`and ${group} in (${sql.join(groups)})`}
    ${
      roleIds === undefined
        ? sql``
        : sql`and exists (
            select 1 from user_roles r where r.user_id = u.id and r.role_id in (${sql.join(roleIds)}))`
    }`
}

// Both take the text as it is: nothing in it is a wildcard. PostgreSQL's index only knows `like`.
function contains(reader: Reader, text: string): RawBuilder<unknown> {
  return reader.engine === 'sqlite'
    ? sql`instr(u.search_text, ${text}) > 0`
    : sql`u.search_text like ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`
}

function quoted(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`
}
