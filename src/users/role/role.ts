/** What a role may be called, hold and receive. */
import { MANAGED_ROLE_NAMES } from '../../platform/auth/managed-roles.ts'
import { type CataloguePermission, PERMISSIONS, type PermissionName } from '../../platform/auth/permissions.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { labelProblem } from '../label.ts'
import type { Role } from '../user/user.ts'

const BASE = new Set<PermissionName>(PERMISSIONS.filter(({ restricted }) => restricted).map(({ name }) => name))
const BY_ID = new Map<string, CataloguePermission>(PERMISSIONS.map((permission) => [permission.id, permission]))
const MOST_PROBLEMS = 100

/** The base permissions, which every role has whether asked for or not, and these. */
export function withBase(names: Iterable<PermissionName>): Set<PermissionName> {
  return new Set([...BASE, ...names])
}

/** What counts as given by whoever makes a role: the base permissions come by themselves. */
export function withoutBase(names: Iterable<PermissionName>): PermissionName[] {
  return [...names].filter((name) => !BASE.has(name))
}

export function isBasePermission(name: PermissionName): boolean {
  return BASE.has(name)
}

export function findPermissionById(id: string): CataloguePermission | undefined {
  return BY_ID.get(id.toLowerCase())
}

/** What a caller wants a role to be; absent members stay as they are. */
export interface RoleWish {
  name?: string
  receivesPermissionsFrom?: readonly string[]
  permissionIds?: readonly string[]
}

export interface ParsedRoleWish {
  name?: string
  receivesPermissionsFrom?: string[]
  permissions?: PermissionName[]
}

/** Every problem at once. Names of managed roles are `reserved`, unless whoever asks refuses every name that is taken. */
export function parseRoleWish(wish: RoleWish, reserved: readonly string[] = MANAGED_ROLE_NAMES): ParsedRoleWish {
  const name = wish.name?.trim()
  const receivesPermissionsFrom = wish.receivesPermissionsFrom && [...new Set(wish.receivesPermissionsFrom)]
  const permissions = wish.permissionIds?.map((id) => findPermissionById(id))
  const nameProblem = name === undefined ? undefined : labelProblem(name)
  const problems = [
    ...(nameProblem === undefined ? [] : [`name ${nameProblem}`]),
    ...(name !== undefined && reserved.includes(name) ? ['Role name is reserved'] : []),
    ...(receivesPermissionsFrom ?? [])
      .filter((source) => !MANAGED_ROLE_NAMES.includes(source))
      .map((source) => `receives_permissions_from: "${shownId(source)}" is not a managed role`),
    ...(wish.permissionIds ?? [])
      .filter((_id, index) => permissions?.[index] === undefined)
      .map((id) => `Permission ${shownId(id)} not found`),
  ].slice(0, MOST_PROBLEMS)
  if (problems.length > 0) throw new AppError('invalid_argument', problems[0] as string, { problems })
  return { name, receivesPermissionsFrom, permissions: permissions?.map((one) => (one as CataloguePermission).name) }
}

export function refuseManaged(role: Role): void {
  if (role.managed !== null) throw new AppError('permission_denied', 'Managed roles cannot be changed')
}

/** Names the version of a role for `If-Match`. Its members are no part of it: they come and go all day. */
export function roleTag(role: Pick<Role, 'modifiedAt'>): string {
  return `W/"${role.modifiedAt.toString(36)}"`
}
