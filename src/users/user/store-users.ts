import { type Selectable, sql } from 'kysely'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { OrganizationsTable, UserStatus, UsersTable } from '../../platform/auth/tables.ts'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { addToTally } from '../../platform/tally/store.ts'
import '../tables.ts'
import type { User, UserGroup } from './user.ts'
import { type UserKeys, userKeys } from './user-keys.ts'

type UserRow = ReturnType<typeof toUserRow>

const COLUMNS: readonly (keyof UserRow)[] = [
  'id',
  'organization_id',
  'email',
  'handle',
  'name',
  'title',
  'status',
  'verified',
  'service_account',
  'anonymized_at',
  'last_login_at',
  'created_at',
  'modified_at',
  'allowed_login_methods',
  'name_key',
  'title_key',
  'email_key',
  'handle_key',
  'own_handle',
  'login_key',
  'list_group',
  'search_text',
]

// NOTE Without `returning`: SQLite runs a statement that has it as if there were a trigger, and first copies every page that
// it touches, which is as dear as the insert itself.
const insertRow = statement<UserRow>(
  (_query, p) => sql`
    insert into users (${sql.join(COLUMNS.map((column) => sql.ref(column)))})
    values (${sql.join(COLUMNS.map((column) => sql.val(p(column))))})
    on conflict do nothing`,
)

/** False when somebody has the address already; then nothing was written. */
export async function insertUser(tx: Transaction, user: User): Promise<boolean> {
  if ((await tx.change(insertRow, toUserRow(user))) === 0) return false
  await addToTally(tx, usersTally(user), 1)
  if (!user.serviceAccount) await addToTally(tx, registrationsTally(toRfc3339(user.createdAt).slice(0, 10)), 1)
  return true
}

/** Stores every member of a user that can change, with what lists are sorted, searched and counted by. */
export async function updateUser(tx: Transaction, before: User, after: User): Promise<void> {
  const { id, organization_id: organizationId, ...values } = toUserRow(after)
  await tx.query
    .updateTable('users')
    .set(values)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
  await moveTally(tx, usersTally(before), usersTally(after))
}

/** Users of one status and kind. */
export function usersTally({ organizationId, status, serviceAccount }: UserGroup): string {
  return `users ${organizationId} ${status} ${serviceAccount ? 1 : 0}`
}

/** People who were made users on a day (`YYYY-MM-DD`, UTC), whatever became of them. */
export function registrationsTally(date: string): string {
  return `users.created:${date}`
}

async function moveTally(tx: Transaction, from: string, to: string): Promise<void> {
  if (from === to) return
  await addToTally(tx, from, -1)
  await addToTally(tx, to, 1)
}

export async function findUser(reader: Reader, organizationId: OrganizationId, id: UserId): Promise<User | undefined> {
  const row = await usersOf(reader, organizationId).where('id', '=', id).executeTakeFirst()
  return row && toUser(row)
}

/** Among those whose address is theirs alone: service accounts share one, anonymized users have none. */
export async function findUserByEmail(
  reader: Reader,
  organizationId: OrganizationId,
  email: string,
): Promise<User | undefined> {
  const row = await usersOf(reader, organizationId)
    .where('email', '=', email)
    .where('service_account', '=', 0)
    .where('anonymized_at', 'is', null)
    .executeTakeFirst()
  return row && toUser(row)
}

/** Two at most: enough to know whether the address names one. */
export async function findServiceAccountsByEmail(
  reader: Reader,
  organizationId: OrganizationId,
  email: string,
): Promise<User[]> {
  const rows = await usersOf(reader, organizationId)
    .where('email', '=', email)
    .where('service_account', '=', 1)
    .where('anonymized_at', 'is', null)
    .orderBy('id')
    .limit(2)
    .execute()
  return rows.map(toUser)
}

export interface UserPage {
  limit: number
  /** Last user of the page before. */
  after?: Pick<User, 'email' | 'id'>
  status?: UserStatus
}

export async function listUsersByEmail(
  reader: Reader,
  organizationId: OrganizationId,
  page: UserPage,
): Promise<User[]> {
  const { after, status, limit } = page
  let query = usersOf(reader, organizationId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (after !== undefined) {
    query = query.where(({ eb, and, or }) =>
      or([eb('email', '>', after.email), and([eb('email', '=', after.email), eb('id', '>', after.id)])]),
    )
  }
  const rows = await query.orderBy('email').orderBy('id').limit(limit).execute()
  return rows.map(toUser)
}

export async function findOrganization(reader: Reader, id: OrganizationId): Promise<OrganizationsTable> {
  return reader.query.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

function usersOf(reader: Reader, organizationId: OrganizationId) {
  return reader.query.selectFrom('users').selectAll().where('organization_id', '=', organizationId)
}

export function toUser(row: Selectable<UsersTable>): User {
  return {
    id: row.id,
    organizationId: row.organization_id,
    email: row.email,
    handle: row.handle,
    name: row.name,
    title: row.title,
    status: row.status,
    verified: row.verified === 1,
    serviceAccount: row.service_account === 1,
    anonymizedAt: row.anonymized_at,
    lastLoginAt: row.last_login_at,
    allowedLoginMethods: JSON.parse(row.allowed_login_methods) as string[],
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}

function toUserRow(user: User): Omit<Selectable<UsersTable>, 'number'> & UserKeys {
  return {
    id: user.id,
    organization_id: user.organizationId,
    email: user.email,
    handle: user.handle,
    name: user.name,
    title: user.title,
    status: user.status,
    verified: user.verified ? 1 : 0,
    service_account: user.serviceAccount ? 1 : 0,
    anonymized_at: user.anonymizedAt,
    last_login_at: user.lastLoginAt,
    created_at: user.createdAt,
    modified_at: user.modifiedAt,
    allowed_login_methods: JSON.stringify(user.allowedLoginMethods),
    ...userKeys(user),
  }
}
