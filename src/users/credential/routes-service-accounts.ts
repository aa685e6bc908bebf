import type { FastifyInstance } from 'fastify'
import { keepAnswerIn } from '../../platform/http/answer/idempotent.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { newUserOf, UserCreateBody } from '../user/schema-users.ts'
import { placeOf } from '../user/send-user.ts'
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
      const input = newUserOf(request.body)
      // So that a repeat makes no second one, though nobody was told of the first.
      const account = await serviceAccounts.create(callerOf(request), input, clientOf(request), (tx, made) =>
        keepAnswerIn(tx, request, async () => {
          const body = JSON.stringify(await userDocument(tx, made, deps))
          return { status: 201, headers: { location: placeOf(made) }, body }
        }),
      )
      const document = await deps.db.read((snapshot) => userDocument(snapshot, account, deps))
      return reply.code(201).header('location', placeOf(account)).send(document)
    },
  })
}
