import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { type Waiting, waitingOf } from '../../platform/http/entry/waiting-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { UsersDeps } from '../deps.ts'
import { requireRole } from '../look-up.ts'
import { pageOf, sortOf } from '../page.ts'
import { pageFields, sortField } from '../schema-fields.ts'
import type { UserList, UserLister } from '../user/list-users.ts'
import { userDocuments } from '../user/user-document.ts'
import { UserService } from '../user/user-service.ts'
import { pageMeta, UserListDocument } from '../wire.ts'
import { RolePath, UserReferenceBody } from './schema-roles.ts'

const MembersQuery = Type.Object({
  ...pageFields,
  sort: sortField(['name', 'email', 'status']),
  filter: Type.Optional(Type.String({ description: 'Part of the name, the email address or the handle.' })),
})

const URL = '/api/v2/roles/:role_id/users'
const WRITE = {
  url: URL,
  surface: 'users',
  access: 'user_access_manage',
  rateLimit: 'users_write',
  schema: {
    params: RolePath,
    querystring: MembersQuery,
    body: UserReferenceBody,
    response: { 200: UserListDocument },
  },
} as const

export function roleUserRoutes(server: FastifyInstance, deps: UsersDeps, lister: UserLister): void {
  const { db } = deps
  const users = new UserService(deps)

  /** Who changed something is answered whatever became of them: a repeat with the same key gets that answer. */
  async function members(principal: Principal, roleId: RoleId, query: Static<typeof MembersQuery>, waiting?: Waiting) {
    const { field: sort, descending } = sortOf(query.sort ?? 'name')
    const wanted = { page: pageOf(query), order: { sort, descending }, filter: query.filter, memberOf: roleId }
    const documentOf = async (snapshot: Reader, list: UserList) => {
      const documents = await userDocuments(snapshot, principal.organizationId, list.users, deps)
      return { ...documents, meta: pageMeta(list) }
    }
    return lister.read(principal, wanted, documentOf, waiting)
  }

  /** The path is looked up before the body: an unknown role is said to be unknown whatever user is meant. */
  async function meant(principal: Principal, roleText: string, userText: string) {
    const { id: roleId } = await requireRole(db, principal, pathId('Role', roleText))
    return { roleId, userId: pathId<'User'>('User', userText) }
  }

  operation(server, {
    method: 'GET',
    url: URL,
    operationId: 'ListRoleUsers',
    summary: 'List the users who have a role',
    surface: 'users',
    access: 'user_access_read',
    rateLimit: 'users_read',
    schema: { params: RolePath, querystring: MembersQuery, response: { 200: UserListDocument } },
    async handler(request, reply) {
      const principal = callerOf(request)
      const role = await requireRole(db, principal, pathId('Role', request.params.role_id))
      return members(principal, role.id, request.query, waitingOf(request, reply))
    },
  })

  operation(server, {
    method: 'POST',
    operationId: 'AddUserToRole',
    summary: 'Give a user a role',
    ...WRITE,
    async handler(request) {
      const principal = callerOf(request)
      const change = await meant(principal, request.params.role_id, request.body.data.id)
      await users.addRole(principal, change, clientOf(request))
      return members(principal, change.roleId, request.query)
    },
  })

  operation(server, {
    method: 'DELETE',
    operationId: 'RemoveUserFromRole',
    summary: 'Take a role from a user',
    ...WRITE,
    async handler(request) {
      const principal = callerOf(request)
      const change = await meant(principal, request.params.role_id, request.body.data.id)
      await users.removeRole(principal, change, clientOf(request))
      return members(principal, change.roleId, request.query)
    },
  })
}
