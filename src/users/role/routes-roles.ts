import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keepAnswerIn } from '../../platform/http/answer/idempotent.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId, requireSameId } from '../../platform/http/route/path-id.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { UsersDeps } from '../deps.ts'
import type { Role } from '../user/user.ts'
import { pageMeta, roleToWire } from '../wire.ts'
import { roleTag } from './role.ts'
import { type ListedRole, RoleReader } from './role-reader.ts'
import { registerRoleRemoval } from './role-removal.ts'
import { RoleService } from './role-service.ts'
import {
  RoleCloneBody,
  RoleCreateBody,
  RoleDocument,
  RoleListDocument,
  RoleListQuery,
  RolePath,
  RoleTemplateListDocument,
  RoleUpdateBody,
  roleQuery,
  roleWish,
} from './schema-roles.ts'

const READ = { surface: 'users', access: 'user_access_read', rateLimit: 'users_read' } as const
const WRITE = { surface: 'users', access: 'user_access_manage', rateLimit: 'users_write' } as const

export function roleRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const roles = new RoleService(deps)
  registerRoleRemoval(deps)
  const reader = new RoleReader(deps)

  function answer(reply: FastifyReply, role: ListedRole) {
    reply.header('etag', roleTag(role))
    return { data: toWire(role) }
  }

  /** So that a repeat makes no second one, though nobody was told of the first. */
  const keeping = (request: FastifyRequest) => (tx: Transaction, role: Role) =>
    keepAnswerIn(tx, request, async () => {
      const made = await reader.completeIn(tx, role)
      return { status: 200, headers: { etag: roleTag(made) }, body: JSON.stringify({ data: toWire(made) }) }
    })

  operation(server, {
    method: 'GET',
    url: '/api/v2/roles',
    operationId: 'ListRoles',
    summary: 'List roles',
    ...READ,
    schema: { querystring: RoleListQuery, response: { 200: RoleListDocument } },
    async handler(request) {
      const list = await reader.list(callerOf(request), roleQuery(request.query))
      return { data: list.roles.map(toWire), meta: pageMeta(list) }
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/roles/templates',
    operationId: 'ListRoleTemplates',
    summary: 'List the managed roles, to be cloned',
    ...READ,
    schema: { response: { 200: RoleTemplateListDocument } },
    async handler(request) {
      const templates = await reader.templates(callerOf(request))
      return { data: templates.map(({ id, ...attributes }) => ({ type: 'roles', id, attributes })) }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/roles',
    operationId: 'CreateRole',
    summary: 'Create a role',
    description: 'The base read permissions belong to every role and are added.',
    ...WRITE,
    sends: ['ETag'],
    schema: { body: RoleCreateBody, response: { 200: RoleDocument } },
    async handler(request, reply) {
      const wish = { ...roleWish(request.body), name: request.body.data.attributes.name }
      const role = await roles.create(callerOf(request), wish, clientOf(request), keeping(request))
      return answer(reply, await reader.complete(role))
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/roles/:role_id',
    operationId: 'GetRole',
    summary: 'Get a role',
    ...READ,
    sends: ['ETag'],
    schema: { params: RolePath, response: { 200: RoleDocument } },
    async handler(request, reply) {
      return answer(reply, await reader.get(callerOf(request), pathId('Role', request.params.role_id)))
    },
  })

  operation(server, {
    method: 'PATCH',
    url: '/api/v2/roles/:role_id',
    operationId: 'UpdateRole',
    summary: 'Change a role',
    description: 'Permissions, where given, replace those of the role; the base permissions stay.',
    ...WRITE,
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { params: RolePath, body: RoleUpdateBody, response: { 200: RoleDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      requireSameId(body.data.id, params.role_id)
      const update = { ...roleWish(body), roleId: pathId<'Role'>('Role', params.role_id), ifMatch: headers['if-match'] }
      const role = await roles.update(callerOf(request), update, clientOf(request))
      return answer(reply, await reader.complete(role))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/roles/:role_id',
    operationId: 'DeleteRole',
    summary: 'Delete a role and take it from its members',
    ...WRITE,
    conditions: ['If-Match'],
    schema: { params: RolePath, response: { 204: null } },
    async handler(request, reply) {
      const roleId = pathId<'Role'>('Role', request.params.role_id)
      await roles.delete(callerOf(request), { roleId, ifMatch: request.headers['if-match'] }, clientOf(request))
      return reply.code(204).send()
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/roles/:role_id/clone',
    operationId: 'CloneRole',
    summary: 'Make a new role with the permissions of another one',
    ...WRITE,
    sends: ['ETag'],
    schema: { params: RolePath, body: RoleCloneBody, response: { 200: RoleDocument } },
    async handler(request, reply) {
      const { name, receives_permissions_from: receivesPermissionsFrom } = request.body.data.attributes
      const clone = { roleId: pathId<'Role'>('Role', request.params.role_id), name, receivesPermissionsFrom }
      const role = await roles.clone(callerOf(request), clone, clientOf(request), keeping(request))
      return answer(reply, await reader.complete(role))
    },
  })
}

function toWire(role: ListedRole) {
  return roleToWire(role, role.permissions, role.userCount)
}
