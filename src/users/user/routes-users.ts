import type { FastifyInstance, FastifyReply } from 'fastify'
import { keepAnswerIn } from '../../platform/http/answer/idempotent.ts'
import { anyOf, selfOr } from '../../platform/http/entry/access.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { waitingOf } from '../../platform/http/entry/waiting-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { OperationRequest } from '../../platform/http/operation-options.ts'
import { pathId, requireSameId } from '../../platform/http/route/path-id.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { UsersDeps } from '../deps.ts'
import { onEmailChanged } from '../invitation/email-verification.ts'
import { requireUser } from '../look-up.ts'
import { pageMeta, UserDocument, UserListDocument } from '../wire.ts'
import { drawIcon } from './icon.ts'
import type { UserList, UserLister } from './list-users.ts'
import { currentUserRoutes } from './routes-current-user.ts'
import {
  newUserOf,
  UserCreateBody,
  UserListQuery,
  UserPath,
  UserPermissionsDocument,
  UserUpdateBody,
  userQueryOf,
  userUpdateOf,
} from './schema-users.ts'
import type { SearchIndexer } from './search-indexer.ts'
import { placeOf, sendDocument, sendUser, sendUserText } from './send-user.ts'
import { UserDocumentMaker, userTag } from './user-document.ts'
import { UserService } from './user-service.ts'

const READ = { surface: 'users', access: 'user_access_read', rateLimit: 'users_read' } as const
const READ_OR_SELF = { ...READ, access: selfOr('user_access_read', 'user_id') }
// Which of the two a change needs depends on the kind of user: see guards.ts.
const MANAGE = {
  surface: 'users',
  access: anyOf('user_access_manage', 'service_account_write'),
  rateLimit: 'users_write',
} as const

const ONE_DAY = 'public, max-age=86400'

export function userRoutes(server: FastifyInstance, deps: UsersDeps, lister: UserLister, indexer: SearchIndexer): void {
  const { db } = deps
  const documents = new UserDocumentMaker(deps)
  const users = new UserService({
    ...deps,
    onEmailChanged: onEmailChanged(deps),
    tagOf: async (tx, user) => userTag(JSON.stringify((await documents.one(tx, user)).data)),
  })

  const getUser = async (
    request: OperationRequest<{ params: typeof UserPath; response: { 200: typeof UserDocument } }>,
    reply: FastifyReply,
  ) => {
    const id = pathId<'User'>('User', request.params.user_id)
    const document = await db.read(async (snapshot) =>
      documents.one(snapshot, await requireUser(snapshot, callerOf(request), id)),
    )
    return sendUser(reply, document)
  }

  operation(server, {
    method: 'GET',
    url: '/api/v2/users',
    operationId: 'ListUsers',
    summary: 'List users',
    description: 'All users of the organization, also Pending and Disabled ones and service accounts.',
    ...READ,
    schema: { querystring: UserListQuery, response: { 200: UserListDocument } },
    async handler(request, reply) {
      const caller = callerOf(request)
      const documentOf = async (snapshot: Reader, list: UserList) => ({
        ...(await documents.many(snapshot, caller.organizationId, list.users)),
        meta: pageMeta(list),
      })
      const document = await lister.read(caller, userQueryOf(request.query), documentOf, waitingOf(request, reply))
      return sendDocument(reply, document)
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/users',
    operationId: 'CreateUser',
    summary: 'Create a user',
    description: 'The user is Pending until an invitation is accepted. No invitation is sent by this.',
    surface: 'users',
    access: 'user_access_invite',
    rateLimit: 'users_write',
    sends: ['ETag', 'Location'],
    schema: { body: UserCreateBody, response: { 201: UserDocument } },
    async handler(request, reply) {
      const input = newUserOf(request.body)
      // So that a repeat is told of this user, though nobody was: the address is taken by then.
      const user = await users.create(callerOf(request), input, clientOf(request), (tx, made) =>
        keepAnswerIn(tx, request, async () => {
          const document = await documents.one(tx, made)
          const headers = { location: placeOf(made), etag: userTag(JSON.stringify(document.data)) }
          return { status: 201, headers, body: JSON.stringify(document) }
        }),
      )
      indexer.added()
      reply.code(201).header('location', placeOf(user))
      return input.roleIds?.length
        ? sendUser(reply, await db.read((snapshot) => documents.one(snapshot, user)))
        : sendUserText(reply, await documents.ofNew(db, user))
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id',
    operationId: 'GetUser',
    summary: 'Get a user',
    ...READ_OR_SELF,
    sends: ['ETag'],
    schema: { params: UserPath, response: { 200: UserDocument } },
    handler: getUser,
  })

  operation(server, {
    method: 'PATCH',
    url: '/api/v2/users/:user_id',
    operationId: 'UpdateUser',
    summary: 'Change a user',
    description:
      'Another email address has to be verified again; the handle stays. That of a person is changed by those who have all permissions of the person. Roles are changed by other operations.',
    ...MANAGE,
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { params: UserPath, body: UserUpdateBody, response: { 200: UserDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      requireSameId(body.data.id, params.user_id)
      const userId = pathId<'User'>('User', params.user_id)
      const update = { ...userUpdateOf(body), userId, ifMatch: headers['if-match'] }
      const user = await users.update(callerOf(request), update, clientOf(request))
      return sendUser(reply, await db.read((snapshot) => documents.one(snapshot, user)))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/users/:user_id',
    operationId: 'DisableUser',
    summary: 'Disable a user',
    description: 'Sessions, tokens and open invitations end; application keys sleep. A user is never removed.',
    ...MANAGE,
    conditions: ['If-Match'],
    schema: { params: UserPath, response: { 204: null } },
    async handler(request, reply) {
      const userId = pathId<'User'>('User', request.params.user_id)
      await users.disableOnce(callerOf(request), { userId, ifMatch: request.headers['if-match'] }, clientOf(request))
      return reply.code(204).send()
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id/orgs',
    operationId: 'ListUserOrganizations',
    summary: 'Get a user with its organizations',
    ...READ_OR_SELF,
    sends: ['ETag'],
    schema: { params: UserPath, response: { 200: UserDocument } },
    handler: getUser,
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id/permissions',
    operationId: 'ListUserPermissions',
    summary: 'List the permissions of a user',
    description: 'Those of all roles of the user together, whatever its status is.',
    ...READ_OR_SELF,
    schema: { params: UserPath, response: { 200: UserPermissionsDocument } },
    async handler(request) {
      const id = pathId<'User'>('User', request.params.user_id)
      const { included } = await db.read(async (snapshot) =>
        documents.one(snapshot, await requireUser(snapshot, callerOf(request), id)),
      )
      return { data: included.filter(({ type }) => type === 'permissions') as never }
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id/icon',
    operationId: 'GetUserIcon',
    summary: 'Get the icon of a user',
    description: 'Made from the id alone, so an unknown id has one, too.',
    surface: 'users',
    access: 'public',
    rateLimit: 'users_read',
    etag: true,
    cacheControl: ONE_DAY,
    schema: { params: UserPath, response: { 200: { contentType: 'image/svg+xml', description: 'An image.' } } },
    async handler(request, reply) {
      return reply.type('image/svg+xml').send(drawIcon(request.params.user_id))
    },
  })

  currentUserRoutes(server, { db, users, documents })
}
