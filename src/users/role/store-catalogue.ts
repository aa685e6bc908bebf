import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { CataloguePermission, PermissionId, PermissionName } from '../../platform/auth/permissions.ts'
import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { Role } from '../user/user.ts'
import { toRole } from './store-roles.ts'

export async function listPermissionNames(reader: Reader): Promise<Set<string>> {
  const rows = await reader.query.selectFrom('permissions').select('name').execute()
  return new Set(rows.map((row) => row.name))
}

/**
 * Inserts those that are not there and answers exactly these. Of two processes that start together the second waits
 * for the first and then inserts nothing, so each permission is introduced once.
 */
export async function introducePermissions(
  tx: Transaction,
  permissions: readonly CataloguePermission[],
): Promise<PermissionName[]> {
  const rows = await tx.query
    .insertInto('permissions')
    .values(
      // In one order everywhere: two processes that insert the same rows must not wait for each other.
      permissions
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ id, name, created }) => ({ id, name, created_at: Date.parse(created) * MICROS_PER_MS })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .execute()
  return rows.map((row) => row.name as PermissionName)
}

/** Managed roles, and custom ones that want what a managed role newly gets; of every organization. */
export async function listReceivingRoles(reader: Reader): Promise<Role[]> {
  const rows = await reader.query
    .selectFrom('roles')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where((condition) =>
      condition.or([condition('managed', 'is not', null), condition('receives_permissions_from', '<>', '[]')]),
    )
    .orderBy('id')
    .execute()
  return rows.map(toRole)
}

export async function grantPermissions(
  tx: Transaction,
  roleId: RoleId,
  permissionIds: readonly PermissionId[],
  at: Micros,
): Promise<void> {
  if (permissionIds.length === 0) return
  await tx.query
    .insertInto('role_permissions')
    .values(permissionIds.map((permissionId) => ({ role_id: roleId, permission_id: permissionId })))
    .onConflict((conflict) => conflict.columns(['role_id', 'permission_id']).doNothing())
    .execute()
  await tx.query.updateTable('roles').set({ modified_at: at }).where('id', '=', roleId).execute()
}
