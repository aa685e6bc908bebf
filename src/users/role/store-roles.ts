import { sql } from 'kysely'
import type { ManagedRoleKey, RoleId } from '../../platform/auth/managed-roles.ts'
import { type PermissionName, permissionId } from '../../platform/auth/permissions.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { RolesTable } from '../../platform/auth/tables.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { unindexed } from '../../platform/storage/look-up.ts'
import { addToTally, dropTally } from '../../platform/tally/store.ts'
import type { Role } from '../user/user.ts'
import { nameKey } from '../user/user-keys.ts'

export function roleTally(roleId: RoleId): string {
  return `role ${roleId}`
}

export async function findRole(reader: Reader, organizationId: OrganizationId, id: RoleId): Promise<Role | undefined> {
  const row = await rolesOf(reader, organizationId).where('id', '=', id).executeTakeFirst()
  return row && toRole(row)
}

export async function findRoles(
  reader: Reader,
  organizationId: OrganizationId,
  ids: readonly RoleId[],
): Promise<Role[]> {
  if (ids.length === 0) return []
  const rows = await rolesOf(reader, organizationId)
    .where('id', 'in', [...ids])
    .execute()
  return rows.map(toRole)
}

/** A name is not unique: whoever looks a role up by it must be ready for several. */
export async function findRolesByName(reader: Reader, organizationId: OrganizationId, name: string): Promise<Role[]> {
  const rows = await rolesOf(reader, organizationId).where('name', '=', name).orderBy('id').limit(2).execute()
  return rows.map(toRole)
}

export async function findManagedRole(
  reader: Reader,
  organizationId: OrganizationId,
  key: ManagedRoleKey,
): Promise<Role | undefined> {
  const row = await rolesOf(reader, organizationId).where('managed', '=', key).executeTakeFirst()
  return row && toRole(row)
}

export async function insertRole(tx: Transaction, role: Role): Promise<void> {
  await tx.query
    .insertInto('roles')
    .values({
      id: role.id,
      organization_id: role.organizationId,
      name: role.name,
      managed: role.managed,
      receives_permissions_from: JSON.stringify(role.receivesPermissionsFrom),
      created_at: role.createdAt,
      modified_at: role.modifiedAt,
      name_key: nameKey(role.name),
    })
    .execute()
}

/** Stores what can change of a role's own members; its permissions have functions of their own. */
export async function updateRole(tx: Transaction, role: Role): Promise<void> {
  await tx.query
    .updateTable('roles')
    .set({
      name: role.name,
      name_key: nameKey(role.name),
      receives_permissions_from: JSON.stringify(role.receivesPermissionsFrom),
      modified_at: role.modifiedAt,
    })
    .where('organization_id', '=', role.organizationId)
    .where('id', '=', role.id)
    .execute()
}

/** Gone from every answer, and without a right, while its members still have it. */
export async function hideRole(tx: Transaction, { id }: Role, at: Micros): Promise<void> {
  await tx.query.updateTable('roles').set({ deleted_at: at }).where('id', '=', id).execute()
  await tx.query.deleteFrom('role_permissions').where('role_id', '=', id).execute()
  await dropTally(tx, roleTally(id))
}

/** Takes it from so many of its members; answers from how many. */
export async function removeMembers(tx: Transaction, roleId: RoleId, limit: number): Promise<number> {
  // An array: PostgreSQL may plan a sub-select as a loop that looks for them anew for each member.
  const some = tx.query.selectFrom('user_roles').select('user_id').where('role_id', '=', roleId).limit(limit)
  const { numDeletedRows } = await tx.query
    .deleteFrom('user_roles')
    .where(unindexed(tx.engine, 'role_id'), '=', roleId)
    .where(tx.engine === 'postgres' ? sql<boolean>`user_id = any(array(${some}))` : sql<boolean>`user_id in (${some})`)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Takes it from its members as well. */
export async function deleteRole(tx: Transaction, id: RoleId): Promise<void> {
  await tx.query.deleteFrom('roles').where('id', '=', id).execute()
  await dropTally(tx, roleTally(id))
}

export async function addRolePermissions(
  tx: Transaction,
  roleId: RoleId,
  names: readonly PermissionName[],
): Promise<void> {
  if (names.length === 0) return
  await tx.query
    .insertInto('role_permissions')
    .values(names.map((name) => ({ role_id: roleId, permission_id: permissionId(name) })))
    .onConflict((conflict) => conflict.columns(['role_id', 'permission_id']).doNothing())
    .execute()
}

export async function removeRolePermissions(
  tx: Transaction,
  roleId: RoleId,
  names: readonly PermissionName[],
): Promise<void> {
  if (names.length === 0) return
  await tx.query
    .deleteFrom('role_permissions')
    .where('role_id', '=', roleId)
    .where('permission_id', 'in', names.map(permissionId))
    .execute()
}

export async function permissionsOfRole(reader: Reader, roleId: RoleId): Promise<PermissionName[]> {
  const rows = await reader.query
    .selectFrom('role_permissions')
    .innerJoin('permissions', 'permissions.id', 'role_permissions.permission_id')
    .select('permissions.name')
    .where('role_permissions.role_id', '=', roleId)
    .orderBy('permissions.name')
    .execute()
  return rows.map((row) => row.name as PermissionName)
}

/** Through all roles of the user, whatever its status is; each once. */
export async function permissionsOfUser(reader: Reader, userId: UserId): Promise<PermissionName[]> {
  const rows = await reader.query
    .selectFrom('user_roles')
    .innerJoin('role_permissions', 'role_permissions.role_id', 'user_roles.role_id')
    .innerJoin('permissions', 'permissions.id', 'role_permissions.permission_id')
    .select('permissions.name')
    .distinct()
    .where('user_roles.user_id', '=', userId)
    .execute()
  return rows.map((row) => row.name as PermissionName)
}

export async function permissionsOfRoles(
  reader: Reader,
  roleIds: readonly RoleId[],
): Promise<Map<RoleId, PermissionName[]>> {
  const permissions = new Map<RoleId, PermissionName[]>(roleIds.map((id) => [id, []]))
  if (roleIds.length === 0) return permissions
  const rows = await reader.query
    .selectFrom('role_permissions')
    .innerJoin('permissions', 'permissions.id', 'role_permissions.permission_id')
    .select(['role_permissions.role_id', 'permissions.name'])
    .where('role_permissions.role_id', 'in', [...roleIds])
    .execute()
  for (const row of rows) permissions.get(row.role_id)?.push(row.name as PermissionName)
  return permissions
}

export async function rolesOfUsers(reader: Reader, userIds: UserId[]): Promise<Map<UserId, Role[]>> {
  const roles = new Map<UserId, Role[]>(userIds.map((id) => [id, []]))
  if (userIds.length === 0) return roles
  const rows = await reader.query
    .selectFrom('user_roles')
    .innerJoin('roles', 'roles.id', 'user_roles.role_id')
    .selectAll('roles')
    .select('user_roles.user_id')
    .where('user_roles.user_id', 'in', userIds)
    .where('roles.deleted_at', 'is', null)
    .execute()
  // Not in SQL: PostgreSQL would order names as the locale of the database has it.
  for (const row of rows.sort(byName)) roles.get(row.user_id)?.push(toRole(row))
  return roles
}

function byName(a: Pick<RolesTable, 'name' | 'id'>, b: Pick<RolesTable, 'name' | 'id'>): number {
  return a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1
}

/** Whether the user did not have the role before. */
export async function addUserRole(tx: Transaction, userId: UserId, roleId: RoleId, at: Micros): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('user_roles')
    .values({ user_id: userId, role_id: roleId, created_at: at })
    .onConflict((conflict) => conflict.columns(['user_id', 'role_id']).doNothing())
    .executeTakeFirstOrThrow()
  const isNew = numInsertedOrUpdatedRows === 1n
  if (isNew) await addToTally(tx, roleTally(roleId), 1)
  return isNew
}

export async function removeUserRole(tx: Transaction, userId: UserId, roleId: RoleId): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('user_roles')
    .where('user_id', '=', userId)
    .where(unindexed(tx.engine, 'role_id'), '=', roleId)
    .executeTakeFirstOrThrow()
  const wasThere = numDeletedRows === 1n
  if (wasThere) await addToTally(tx, roleTally(roleId), -1)
  return wasThere
}

/** Up to two are enough to know whether one may go. */
export async function someActiveAdministrators(reader: Reader, organizationId: OrganizationId): Promise<UserId[]> {
  const administrators = await activeAdministrators(reader, organizationId)
  return (await administrators.query.orderBy('users.id').limit(2).execute()).map((row) => row.id)
}

/** A query for the people who can mend everything; in an object, since whoever awaits a query itself gets an error. */
export async function activeAdministrators(reader: Reader, organizationId: OrganizationId) {
  // Their role by its id: joined with the roles, PostgreSQL expects as many people in it as in any other, and reads those of all.
  const role = await findManagedRole(reader, organizationId, 'admin')
  const query = reader.query
    .selectFrom('user_roles')
    .innerJoin('users', 'users.id', 'user_roles.user_id')
    .select('users.id')
    .where('user_roles.role_id', '=', role?.id ?? null)
    .where('users.status', '=', 'Active')
    .where('users.service_account', '=', 0)
  return { query }
}

function rolesOf(reader: Reader, organizationId: OrganizationId) {
  return reader.query
    .selectFrom('roles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
}

export function toRole(row: RolesTable): Role {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    managed: row.managed,
    receivesPermissionsFrom: JSON.parse(row.receives_permissions_from) as string[],
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}
