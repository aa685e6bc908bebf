import type { FastifyInstance } from 'fastify'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { requireSameId } from '../../platform/http/route/path-id.ts'
import type { Database } from '../../platform/storage/database.ts'
import { requireUser } from '../look-up.ts'
import { UserDocument } from '../wire.ts'
import { UserUpdateBody, userUpdateOf } from './schema-users.ts'
import { sendUser } from './send-user.ts'
import type { UserDocumentMaker } from './user-document.ts'
import type { UserService } from './user-service.ts'

interface CurrentUserDeps {
  db: Database
  users: UserService
  documents: UserDocumentMaker
}

export function currentUserRoutes(server: FastifyInstance, { db, users, documents }: CurrentUserDeps): void {
  operation(server, {
    method: 'GET',
    url: '/api/v2/current_user',
    operationId: 'GetCurrentUser',
    summary: 'Get the calling user',
    description: 'The owner of the key or token that was sent.',
    surface: 'users',
    access: 'signed_in',
    rateLimit: 'users_read',
    sends: ['ETag'],
    schema: { response: { 200: UserDocument } },
    async handler(request, reply) {
      const principal = callerOf(request)
      const document = await db.read(async (snapshot) =>
        documents.one(snapshot, await requireUser(snapshot, principal, ownId(principal))),
      )
      return sendUser(reply, document)
    },
  })

  operation(server, {
    method: 'PATCH',
    url: '/api/v2/current_user',
    operationId: 'UpdateCurrentUser',
    summary: 'Change the calling user',
    description:
      'From a session, another email address needs a sign-in of the last ten minutes; from a token or key, all permissions of its owner.',
    surface: 'users',
    access: 'user_self_profile_write',
    rateLimit: 'users_write',
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { body: UserUpdateBody, response: { 200: UserDocument } },
    async handler(request, reply) {
      const principal = callerOf(request)
      const userId = ownId(principal)
      requireSameId(request.body.data.id, userId)
      const update = { ...userUpdateOf(request.body), userId, ifMatch: request.headers['if-match'], own: true }
      const user = await users.update(principal, update, clientOf(request))
      return sendUser(reply, await db.read((snapshot) => documents.one(snapshot, user)))
    },
  })
}

function ownId({ userId }: Principal): UserId {
  if (userId === null) throw new AppError('permission_denied', 'These credentials belong to no user')
  return userId
}
