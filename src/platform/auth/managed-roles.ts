import type { Id } from '../ids/uuid.ts'
import type { CataloguePermission, LowestRole } from './permissions.ts'

export type RoleId = Id<'Role'>
/** How the store recognises a managed role; its name is for people. */
export type ManagedRoleKey = LowestRole

export interface ManagedRole {
  key: ManagedRoleKey
  name: string
  description: string
}

/** Highest first: each holds everything of the one after it. */
export const MANAGED_ROLES: readonly ManagedRole[] = [
  { key: 'admin', name: 'Platform Admin Role', description: 'Everything, including users, roles, keys and settings.' },
  { key: 'standard', name: 'Platform Standard Role', description: 'Daily work: read and write, and invite others.' },
  { key: 'read_only', name: 'Platform Read Only Role', description: "Read, and change one's own profile." },
]

export const MANAGED_ROLE_NAMES: readonly string[] = MANAGED_ROLES.map((role) => role.name)

function rank(key: ManagedRoleKey): number {
  return MANAGED_ROLES.findIndex((role) => role.key === key)
}

export function managedRoleHolds(key: ManagedRoleKey, permission: Pick<CataloguePermission, 'lowestRole'>): boolean {
  return rank(key) <= rank(permission.lowestRole)
}
