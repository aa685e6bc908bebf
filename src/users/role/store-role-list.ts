import { sql } from 'kysely'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { ListCounts, Page, Sort } from '../page.ts'
import { containsText } from '../store-name-filter.ts'
import type { Role } from '../user/user.ts'
import { toRole } from './store-roles.ts'

export type RoleSort = 'name' | 'modified_at' | 'user_count'

export interface RoleQuery {
  page: Page
  sort: Sort<RoleSort>
  /** Part of the name. */
  filter?: string
  /** Only these; absent for all. */
  ids?: readonly RoleId[]
}

export interface RoleList extends ListCounts {
  roles: Role[]
}

/** Roles are few (tens, not millions), so the counts are counted. */
export async function listRoles(reader: Reader, organizationId: OrganizationId, query: RoleQuery): Promise<RoleList> {
  const all = reader.query
    .selectFrom('roles')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
  const { total } = await all.select(counted.as('total')).executeTakeFirstOrThrow()
  if (query.ids?.length === 0) return { roles: [], total, filtered: 0 }
  let matching = all
  if (query.ids !== undefined) matching = matching.where('id', 'in', [...query.ids])
  const name = containsText(reader, 'name_key', query.filter)
  if (name !== undefined) matching = matching.where(name)
  const { filtered } = await matching.select(counted.as('filtered')).executeTakeFirstOrThrow()
  const offset = query.page.size * query.page.number
  if (offset >= filtered) return { roles: [], total, filtered }
  const direction = query.sort.descending ? 'desc' : 'asc'
  const rows = await matching
    .selectAll('roles')
    .orderBy(sortKey(query.sort.field), direction)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(query.page.size)
    .offset(offset)
    .execute()
  return { roles: rows.map(toRole), total, filtered }
}

const counted = sql<number>`count(*)`

function sortKey(field: RoleSort) {
  if (field === 'name') return sql.ref('name_key')
  if (field === 'modified_at') return sql.ref('modified_at')
  return sql`(select coalesce(sum(amount), 0) from tallies where tallies.name = 'role ' || roles.id)`
}
