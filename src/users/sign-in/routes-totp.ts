import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { allows, isSession, type Principal, type UserId } from '../../platform/auth/principal.ts'
import type { AccessRule } from '../../platform/http/entry/access.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { spend } from '../../platform/http/entry/spend.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import {
  EnrolmentDocument,
  enrolmentToWire,
  RecoveryCodesDocument,
  recoveryCodesToWire,
  TotpConfirmBody,
} from './schema-auth.ts'
import type { TotpService } from './totp-service.ts'

/**
 * In a session it is the person, who may always protect the account. A token or key may have been made for something
 * else, so it needs the right to change the profile of its owner.
 */
const ownAccount: AccessRule = {
  description: 'a session of the user, or user_self_profile_write',
  refusal: 'Missing permission: user_self_profile_write',
  allows: (principal) => isSession(principal) || allows(principal, 'user_self_profile_write'),
}

export function totpRoutes(server: FastifyInstance, totp: TotpService): void {
  operation(server, {
    method: 'POST',
    url: '/api/v2/current_user/totp',
    operationId: 'EnrolTotp',
    summary: 'Begin to enrol a second factor',
    description:
      'Answers a new secret, which counts once a code of it was confirmed. In a session it needs a sign-in within the last 10 minutes, by a token or key all permissions of its owner.',
    surface: 'users',
    access: ownAccount,
    rateLimit: 'users_write',
    cacheControl: 'private, no-store',
    idempotent: { blank: ['otpauth_uri'] },
    schema: { response: { 201: EnrolmentDocument } },
    async handler({ principal }, reply) {
      return reply.code(201).send(enrolmentToWire(await totp.enrol(principal as Principal)))
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/current_user/totp/confirm',
    operationId: 'ConfirmTotp',
    summary: 'Confirm the second factor with a code of it',
    description:
      'Answers ten recovery codes, each of which replaces a code once. They are not shown again. By a token or key it needs all permissions of its owner.',
    surface: 'users',
    access: ownAccount,
    rateLimit: 'users_write',
    cacheControl: 'private, no-store',
    idempotent: { blank: ['recovery_codes'] },
    schema: { body: TotpConfirmBody, response: { 200: RecoveryCodesDocument } },
    async handler(request, reply) {
      const caller = request.principal as Principal
      await spend(request, reply, { bucket: 'public_auth_account', per: 'user' })
      const codes = await totp.confirm(caller, request.body.data.attributes, clientOf(request))
      return recoveryCodesToWire(caller.userId as UserId, codes)
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/current_user/totp',
    operationId: 'DeleteTotp',
    summary: 'Remove the second factor of the caller',
    description:
      'The recovery codes go with it. In a session it needs a sign-in within the last 10 minutes, by a token or key all permissions of its owner.',
    surface: 'users',
    access: ownAccount,
    rateLimit: 'users_write',
    schema: { response: { 204: null } },
    async handler(request, reply) {
      await totp.remove(request.principal as Principal, clientOf(request))
      return reply.code(204).send()
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/users/:user_id/totp',
    operationId: 'ResetUserTotp',
    summary: 'Remove the second factor of a user who lost it',
    surface: 'users',
    access: 'user_access_manage',
    rateLimit: 'users_write',
    schema: { params: Type.Object({ user_id: Type.String() }), response: { 204: null } },
    async handler(request, reply) {
      const userId = pathId<'User'>('User', request.params.user_id)
      await totp.reset(request.principal as Principal, { userId }, clientOf(request))
      return reply.code(204).send()
    },
  })
}
