/**
 * Brings permissions that are new in this release into the database, and grants them where the catalogue says.
 *
 * It acts only on what it introduces at this very start: a permission that somebody took from a custom role later is
 * never given back by the next start.
 */
import { recordAudit, SYSTEM_ACTOR } from '../../platform/audit/record.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import { MANAGED_ROLES, managedRoleHolds } from '../../platform/auth/managed-roles.ts'
import { type CataloguePermission, PERMISSIONS, type PermissionName } from '../../platform/auth/permissions.ts'
import type { Clock, Micros } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Role } from '../user/user.ts'
import { grantPermissions, introducePermissions, listPermissionNames, listReceivingRoles } from './store-catalogue.ts'

export interface CatalogueSyncOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  /** The list of this version unless a test brings its own. */
  catalogue?: readonly CataloguePermission[]
}

/** Answers the names that are new. Writes nothing, and takes no lock, when there are none. */
export async function syncCatalogue(options: CatalogueSyncOptions): Promise<PermissionName[]> {
  const { db, clock, changes, catalogue = PERMISSIONS } = options
  const known = await listPermissionNames(db)
  if (catalogue.every((permission) => known.has(permission.name))) return []
  return db.write(
    async (tx) => {
      changes.announce(tx)
      return introduceCatalogue(tx, clock.now(), catalogue)
    },
    // NOTE Under a stricter isolation the second of two processes would fail instead of finding nothing to do.
    { alone: true, isolation: 'read committed' },
  )
}

export async function introduceCatalogue(
  tx: Transaction,
  at: Micros,
  catalogue: readonly CataloguePermission[] = PERMISSIONS,
): Promise<PermissionName[]> {
  const names = await introducePermissions(tx, catalogue)
  const introduced = catalogue.filter((permission) => names.includes(permission.name))
  if (introduced.length === 0) return []
  for (const role of await listReceivingRoles(tx)) {
    const granted = introduced.filter((permission) => isGrantedTo(role, permission))
    if (granted.length === 0) continue
    await grantPermissions(
      tx,
      role.id,
      granted.map((permission) => permission.id),
      at,
    )
    if (role.managed === null) await auditInheritance(tx, role, granted, at)
  }
  return introduced.map((permission) => permission.name)
}

function isGrantedTo(role: Role, permission: CataloguePermission): boolean {
  return MANAGED_ROLES.some(
    ({ key, name }) =>
      managedRoleHolds(key, permission) &&
      (role.managed === key || (role.managed === null && role.receivesPermissionsFrom.includes(name))),
  )
}

function auditInheritance(tx: Transaction, role: Role, granted: CataloguePermission[], at: Micros): Promise<void> {
  return recordAudit(tx, {
    organizationId: role.organizationId,
    action: 'role.permissions_inherited',
    actor: SYSTEM_ACTOR,
    target: { type: 'roles', id: role.id },
    changes: { permissions: { new: granted.map((permission) => permission.name) } },
    at,
  })
}
