import { sql } from 'kysely'
import type { PermissionName } from '../../platform/auth/permissions.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { MintedSecret, MintedToken } from '../../platform/auth/secrets.ts'
import type { AccessTokensTable } from '../../platform/auth/tables.ts'
import { byteOrder } from '../../platform/storage/byte-order.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { ListCounts, Page, Sort } from '../page.ts'
import { containsText } from '../store-name-filter.ts'
import { nameKey } from '../user/user-keys.ts'
import type { AccessToken, ApplicationKey, OwnedCredentials, OwnedCredentialTable, OwnedSort } from './credential.ts'
import { ownedPlaces } from './store-owned-places.ts'

/** Whose: one user's, or (null) everybody's in the organization. */
export interface Ownership {
  organizationId: OrganizationId
  userId: UserId | null
}

export async function insertAccessToken(tx: Transaction, token: AccessToken, secret: MintedToken): Promise<void> {
  await tx.query
    .insertInto('access_tokens')
    .values({ ...ownedRow(token, secret), public_portion: secret.publicPortion, expires_at: token.expiresAt })
    .execute()
}

export async function insertApplicationKey(tx: Transaction, key: ApplicationKey, secret: MintedSecret): Promise<void> {
  await tx.query.insertInto('application_keys').values(ownedRow(key, secret)).execute()
}

export async function findOwned<T extends OwnedCredentialTable>(
  reader: Reader,
  table: T,
  ownership: Ownership,
  id: string,
): Promise<OwnedCredentials[T] | undefined> {
  const row = await ownedBy(reader, table, ownership).selectAll('c').where('c.id', '=', id).executeTakeFirst()
  return row && toOwned(table, row)
}

/** Oldest first, all of them. */
export async function allOwned<T extends OwnedCredentialTable>(
  reader: Reader,
  table: T,
  ownership: Ownership,
): Promise<OwnedCredentials[T][]> {
  const query = ownedBy(reader, table, ownership).selectAll('c').orderBy('c.created_at').orderBy('c.id')
  return (await query.execute()).map((row) => toOwned(table, row))
}

export interface OwnedQuery {
  page: Page
  sort: Sort<OwnedSort>
  /** Part of the name. */
  filter?: string
}

export async function listOwned<T extends OwnedCredentialTable>(
  reader: Reader,
  table: T,
  ownership: Ownership,
  { page, sort, filter }: OwnedQuery,
): Promise<ListCounts & { items: OwnedCredentials[T][] }> {
  const offset = page.size * page.number
  if (reader.engine === 'sqlite' && ownership.userId === null) {
    const { ids, ...counts } = await ownedPlaces(reader, {
      table,
      organizationId: ownership.organizationId,
      key: sortKey(reader, sort.field),
      descending: sort.descending,
      isAsked: containsText(reader, 'c.name_key', filter),
      offset,
      size: page.size,
    })
    return { items: await ownedInOrder(reader, table, ids), ...counts }
  }
  const all = ownedBy(reader, table, ownership)
  const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const holdsText = containsText(reader, 'c.name_key', filter)
  const matching = holdsText === undefined ? all : all.where(holdsText)
  const { filtered } =
    holdsText === undefined
      ? { filtered: total }
      : await matching.select(sql<number>`count(*)`.as('filtered')).executeTakeFirstOrThrow()
  if (offset >= filtered) return { items: [], total, filtered }
  const direction = sort.descending ? 'desc' : 'asc'
  const rows = await matching
    .selectAll('c')
    .orderBy(sortKey(reader, sort.field), direction)
    .orderBy('c.created_at', direction)
    .orderBy('c.id', direction)
    .limit(page.size)
    .offset(offset)
    .execute()
  return { items: rows.map((row) => toOwned(table, row)), total, filtered }
}

async function ownedInOrder<T extends OwnedCredentialTable>(
  reader: Reader,
  table: T,
  ids: readonly string[],
): Promise<OwnedCredentials[T][]> {
  if (ids.length === 0) return []
  const query = reader.query
    .selectFrom(table as 'access_tokens')
    .selectAll()
    .where('id', 'in', [...ids])
  const byId = new Map((await query.execute()).map((row) => [row.id, toOwned(table, row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

function sortKey({ engine }: Reader, field: OwnedSort) {
  return field === 'last4' ? byteOrder(engine, SORT_KEYS.last4) : SORT_KEYS[field]
}

const SORT_KEYS = {
  name: sql.ref('c.name_key'),
  created_at: sql.ref('c.created_at'),
  last4: sql.ref('c.last4'),
  // One that never ends, or was never used, comes after all that do or were.
  expires_at: sql`coalesce(c.expires_at, ${sql.lit(Number.MAX_SAFE_INTEGER)})`,
  last_used_at: sql`coalesce(c.last_used_at, ${sql.lit(Number.MAX_SAFE_INTEGER)})`,
}

export async function updateOwned(
  tx: Transaction,
  table: OwnedCredentialTable,
  { id, name, scopes }: Pick<ApplicationKey, 'id' | 'name' | 'scopes'>,
): Promise<void> {
  await tx.query
    .updateTable(table)
    .set({ name, name_key: nameKey(name), scopes: toJson(scopes) })
    .where('id', '=', id)
    .execute()
}

/** Answers the owner of what was deleted. */
export async function deleteOwned(
  tx: Transaction,
  table: OwnedCredentialTable,
  { organizationId, userId }: Ownership,
  id: string,
): Promise<UserId | undefined> {
  const members = tx.query.selectFrom('users').select('id').where('organization_id', '=', organizationId)
  let query = tx.query.deleteFrom(table).where('id', '=', id).where('user_id', 'in', members)
  if (userId !== null) query = query.where('user_id', '=', userId)
  const row = await query.returning('user_id').executeTakeFirst()
  return row?.user_id
}

export async function deleteAccessTokensOf(tx: Transaction, userId: UserId): Promise<void> {
  await tx.query.deleteFrom('access_tokens').where('user_id', '=', userId).execute()
}

export async function deleteSessionsOf(tx: Transaction, userId: UserId): Promise<void> {
  await tx.query.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/** Whether a secret with this hash works as the first administrator's settings say. */
export async function isKnownSecret(
  reader: Reader,
  table: 'access_tokens' | 'application_keys' | 'api_keys',
  hash: string,
): Promise<boolean> {
  const row = await reader.query.selectFrom(table).select('id').where('secret_hash', '=', hash).executeTakeFirst()
  return row !== undefined
}

// The columns of a key are a part of those of a token, so the query is typed as that of tokens.
function ownedBy(reader: Reader, table: OwnedCredentialTable, { organizationId, userId }: Ownership) {
  const query = reader.query
    .selectFrom(`${table as 'access_tokens'} as c`)
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .where('u.organization_id', '=', organizationId)
  return userId === null ? query : query.where('c.user_id', '=', userId)
}

function ownedRow(credential: ApplicationKey, secret: MintedSecret) {
  return {
    id: credential.id,
    user_id: credential.userId,
    name: credential.name,
    name_key: nameKey(credential.name),
    secret_hash: secret.hash,
    last4: secret.last4,
    scopes: toJson(credential.scopes),
    created_at: credential.createdAt,
    last_used_at: null,
  }
}

function toJson(scopes: PermissionName[] | null): string | null {
  return scopes === null ? null : JSON.stringify(scopes)
}

function toOwned<T extends OwnedCredentialTable>(table: T, row: AccessTokensTable): OwnedCredentials[T] {
  const key: ApplicationKey = {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    last4: row.last4,
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as PermissionName[]),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
  const token = { ...key, publicPortion: row.public_portion, expiresAt: row.expires_at }
  return (table === 'access_tokens' ? token : key) as OwnedCredentials[T]
}
