import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { CataloguePermission } from '../../platform/auth/permissions.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { OrganizationsTable } from '../../platform/auth/tables.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { findOrganization } from '../user/store-users.ts'
import type { Role } from '../user/user.ts'
import { catalogueOrder } from './catalogue-order.ts'
import { findRoles, permissionsOfRoles } from './store-roles.ts'

export interface HeldRole {
  role: Role
  /** By name. */
  permissions: readonly CataloguePermission[]
}

// As long as a revoked right may live on another node.
const MAX_AGE_MS = 1_000
const MOST_ROLES = 1_000

/** What every user document repeats: the organization, and roles with their permissions. Forgotten when any changes. */
export class RoleCache {
  readonly #clock: Clock
  readonly #roles = new Map<RoleId, HeldRole>()
  readonly #organizations = new Map<OrganizationId, OrganizationsTable>()
  #filledAt = 0
  #changes = 0

  constructor({ clock, changes }: { clock: Clock; changes: Pick<IdentityChanges, 'listen'> }) {
    this.#clock = clock
    changes.listen(() => this.#forget())
  }

  async organization(reader: Reader, id: OrganizationId): Promise<OrganizationsTable> {
    this.#age()
    const known = this.#organizations.get(id)
    if (known !== undefined) return known
    const began = this.#changes
    const organization = await findOrganization(reader, id)
    if (began === this.#changes) this.#organizations.set(id, organization)
    return organization
  }

  async roles(reader: Reader, organizationId: OrganizationId, ids: readonly RoleId[]): Promise<Map<RoleId, HeldRole>> {
    this.#age()
    const held = new Map<RoleId, HeldRole>()
    const missing: RoleId[] = []
    for (const id of ids) {
      const known = this.#roles.get(id)
      if (known === undefined) missing.push(id)
      else held.set(id, known)
    }
    if (missing.length === 0) return held
    const began = this.#changes
    for (const [id, found] of await readRoles(reader, organizationId, missing)) {
      held.set(id, found)
      // What was read before a change must not be kept after it.
      if (began === this.#changes && this.#roles.size < MOST_ROLES) this.#roles.set(id, found)
    }
    return held
  }

  #age(): void {
    const now = this.#clock.elapsedMs()
    if (now - this.#filledAt < MAX_AGE_MS) return
    this.#forget()
    this.#filledAt = now
  }

  #forget(): void {
    this.#changes++
    this.#roles.clear()
    this.#organizations.clear()
  }
}

export async function readRoles(
  reader: Reader,
  organizationId: OrganizationId,
  ids: readonly RoleId[],
): Promise<Map<RoleId, HeldRole>> {
  const roles = await findRoles(reader, organizationId, ids)
  const permissions = await permissionsOfRoles(reader, ids)
  return new Map(roles.map((role) => [role.id, { role, permissions: catalogueOrder(permissions.get(role.id) ?? []) }]))
}
