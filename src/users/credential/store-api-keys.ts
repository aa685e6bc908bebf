import { type Selectable, sql } from 'kysely'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { MintedSecret } from '../../platform/auth/secrets.ts'
import type { ApiKeysTable } from '../../platform/auth/tables.ts'
import { byteOrder } from '../../platform/storage/byte-order.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { ListCounts, Page, Sort } from '../page.ts'
import { containsText } from '../store-name-filter.ts'
import { nameKey } from '../user/user-keys.ts'
import type { ApiKey, ApiKeySort } from './credential.ts'

export async function insertApiKey(tx: Transaction, key: ApiKey, secret: MintedSecret): Promise<void> {
  await tx.query
    .insertInto('api_keys')
    .values({
      id: key.id,
      organization_id: key.organizationId,
      name: key.name,
      name_key: nameKey(key.name),
      secret_hash: secret.hash,
      last4: secret.last4,
      created_by: key.createdBy,
      modified_by: key.modifiedBy,
      created_at: key.createdAt,
      modified_at: key.modifiedAt,
    })
    .execute()
}

export async function findApiKey(
  reader: Reader,
  organizationId: OrganizationId,
  id: string,
): Promise<ApiKey | undefined> {
  const row = await keysOf(reader, organizationId).selectAll().where('id', '=', id).executeTakeFirst()
  return row && toApiKey(row)
}

/** Oldest first, all of them. */
export async function allApiKeys(reader: Reader, organizationId: OrganizationId): Promise<ApiKey[]> {
  const rows = await keysOf(reader, organizationId).selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(toApiKey)
}

export interface ApiKeyQuery {
  page: Page
  sort: Sort<ApiKeySort>
  /** Part of the name. */
  filter?: string
}

export async function listApiKeys(
  reader: Reader,
  organizationId: OrganizationId,
  { page, sort, filter }: ApiKeyQuery,
): Promise<ListCounts & { items: ApiKey[] }> {
  const all = keysOf(reader, organizationId)
  const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const holdsText = containsText(reader, 'name_key', filter)
  const matching = holdsText === undefined ? all : all.where(holdsText)
  const { filtered } = await matching.select(sql<number>`count(*)`.as('filtered')).executeTakeFirstOrThrow()
  const offset = page.size * page.number
  if (offset >= filtered) return { items: [], total, filtered }
  const direction = sort.descending ? 'desc' : 'asc'
  const rows = await matching
    .selectAll()
    .orderBy(sortKey(reader, sort.field), direction)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(page.size)
    .offset(offset)
    .execute()
  return { items: rows.map(toApiKey), total, filtered }
}

function sortKey({ engine }: Reader, field: ApiKeySort) {
  if (field === 'last4') return byteOrder(engine, sql.ref('last4'))
  return sql.ref(field === 'name' ? 'name_key' : field)
}

export async function updateApiKey(tx: Transaction, key: ApiKey): Promise<void> {
  await tx.query
    .updateTable('api_keys')
    .set({ name: key.name, name_key: nameKey(key.name), modified_by: key.modifiedBy, modified_at: key.modifiedAt })
    .where('organization_id', '=', key.organizationId)
    .where('id', '=', key.id)
    .execute()
}

export async function deleteApiKey(tx: Transaction, organizationId: OrganizationId, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('api_keys')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

function keysOf(reader: Reader, organizationId: OrganizationId) {
  return reader.query.selectFrom('api_keys').where('organization_id', '=', organizationId)
}

function toApiKey(row: Selectable<ApiKeysTable>): ApiKey {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    last4: row.last4,
    createdBy: row.created_by,
    modifiedBy: row.modified_by,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}
