import type { FastifyInstance } from 'fastify'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import type { UsersDeps } from '../deps.ts'
import { requireRole } from '../look-up.ts'
import { permissionToWire } from '../wire.ts'
import { findPermissionById } from './role.ts'
import { RoleReader } from './role-reader.ts'
import { RoleService } from './role-service.ts'
import { PermissionListDocument, PermissionReferenceBody, RolePath } from './schema-roles.ts'

const URL = '/api/v2/roles/:role_id/permissions'
const WRITE = {
  url: URL,
  surface: 'users',
  access: 'user_access_manage',
  rateLimit: 'users_write',
  schema: { params: RolePath, body: PermissionReferenceBody, response: { 200: PermissionListDocument } },
} as const

export function rolePermissionRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const { db } = deps
  const roles = new RoleService(deps)

  const reader = new RoleReader(deps)

  async function permissionsAnswer(principal: Principal, roleId: RoleId) {
    return { data: (await reader.permissions(principal, roleId)).map(permissionToWire) }
  }

  /** The path is looked up before the body: an unknown role is said to be unknown whatever permission is meant. */
  async function meant(principal: Principal, roleText: string, permissionText: string) {
    const { id: roleId } = await requireRole(db, principal, pathId('Role', roleText))
    const permission = findPermissionById(permissionText)
    if (permission === undefined) throw new AppError('not_found', `Permission ${shownId(permissionText)} not found`)
    return { roleId, permission }
  }

  operation(server, {
    method: 'GET',
    url: URL,
    operationId: 'ListRolePermissions',
    summary: 'List the permissions of a role',
    surface: 'users',
    access: 'user_access_read',
    rateLimit: 'users_read',
    schema: { params: RolePath, response: { 200: PermissionListDocument } },
    async handler(request) {
      return permissionsAnswer(callerOf(request), pathId('Role', request.params.role_id))
    },
  })

  operation(server, {
    method: 'POST',
    operationId: 'AddPermissionToRole',
    summary: 'Give a role a permission',
    ...WRITE,
    async handler(request) {
      const principal = callerOf(request)
      const change = await meant(principal, request.params.role_id, request.body.data.id)
      await roles.addPermission(principal, change, clientOf(request))
      return permissionsAnswer(principal, change.roleId)
    },
  })

  operation(server, {
    method: 'DELETE',
    operationId: 'RemovePermissionFromRole',
    summary: 'Take a permission from a role',
    ...WRITE,
    async handler(request) {
      const principal = callerOf(request)
      const change = await meant(principal, request.params.role_id, request.body.data.id)
      await roles.removePermission(principal, change, clientOf(request))
      return permissionsAnswer(principal, change.roleId)
    },
  })
}
