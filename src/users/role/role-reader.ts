import { MANAGED_ROLES, type RoleId } from '../../platform/auth/managed-roles.ts'
import type { CataloguePermission, PermissionName } from '../../platform/auth/permissions.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import { requireRole } from '../look-up.ts'
import type { ListCounts } from '../page.ts'
import type { Role } from '../user/user.ts'
import { catalogueOrder } from './catalogue-order.ts'
import { listRoles, type RoleQuery } from './store-role-list.ts'
import { findManagedRole, permissionsOfRole, permissionsOfRoles, roleTally } from './store-roles.ts'

export interface ListedRole extends Role {
  /** By name. */
  permissions: CataloguePermission[]
  userCount: number
}

export interface RoleTemplate {
  id: RoleId
  name: string
  description: string
}

/** Roles with what they hold and how many have them. */
export class RoleReader {
  readonly #db: Database

  constructor({ db }: { db: Database }) {
    this.#db = db
  }

  async list(principal: Principal, query: RoleQuery): Promise<ListCounts & { roles: ListedRole[] }> {
    return this.#db.read(async (snapshot) => {
      const { roles, ...counts } = await listRoles(snapshot, principal.organizationId, query)
      return { ...counts, roles: await complete(snapshot, roles) }
    })
  }

  async get(principal: Principal, roleId: RoleId): Promise<ListedRole> {
    return this.#db.read(async (snapshot) => {
      const [role] = await complete(snapshot, [await requireRole(snapshot, principal, roleId)])
      return role as ListedRole
    })
  }

  /** A role as it was just stored, with the rest of it. */
  async complete(role: Role): Promise<ListedRole> {
    return this.#db.read((snapshot) => this.completeIn(snapshot, role))
  }

  async completeIn(reader: Reader, role: Role): Promise<ListedRole> {
    const [completed] = await complete(reader, [role])
    return completed as ListedRole
  }

  async permissions(principal: Principal, roleId: RoleId): Promise<CataloguePermission[]> {
    const names: PermissionName[] = await this.#db.read(async (snapshot) => {
      const role = await requireRole(snapshot, principal, roleId)
      return permissionsOfRole(snapshot, role.id)
    })
    return catalogueOrder(names)
  }

  /** The managed roles, highest first. */
  async templates({ organizationId }: Principal): Promise<RoleTemplate[]> {
    return this.#db.read(async (snapshot) => {
      const templates: RoleTemplate[] = []
      for (const { key, name, description } of MANAGED_ROLES) {
        const role = await findManagedRole(snapshot, organizationId, key)
        if (role !== undefined) templates.push({ id: role.id, name, description })
      }
      return templates
    })
  }
}

async function complete(reader: Reader, roles: readonly Role[]): Promise<ListedRole[]> {
  const ids = roles.map(({ id }) => id)
  const permissions = await permissionsOfRoles(reader, ids)
  const tallies = await readTallies(reader, ids.map(roleTally))
  return roles.map((role) => ({
    ...role,
    permissions: catalogueOrder(permissions.get(role.id) ?? []),
    userCount: tallies.get(roleTally(role.id)) ?? 0,
  }))
}
