import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { newUserOf, UserCreateBody } from '../user/schema-users.ts'
import { userDocument } from '../user/user-document.ts'
import { UserDocument } from '../wire.ts'
import { ServiceAccountService } from './service-account-service.ts'

export function serviceAccountRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const serviceAccounts = new ServiceAccountService(deps)

  operation(server, {
    method: 'POST',
    url: '/api/v2/service_accounts',
    operationId: 'CreateServiceAccount',
    summary: 'Create a service account',
    description: 'A user that is a program: Active at once, it cannot be invited or sign in, and has application keys.',
    surface: 'users',
    access: 'service_account_write',
    rateLimit: 'users_write',
    sends: ['Location'],
    schema: { body: UserCreateBody, response: { 201: UserDocument } },
    async handler(request, reply) {
      const account = await serviceAccounts.create(callerOf(request), newUserOf(request.body), clientOf(request))
      const document = await deps.db.read((snapshot) => userDocument(snapshot, account, deps))
      return reply.code(201).header('location', `/api/v2/users/${account.id}`).send(document)
    },
  })
}
