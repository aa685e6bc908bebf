import type { FastifyInstance } from 'fastify'
import type { Principal } from '../../platform/auth/principal.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { spend } from '../../platform/http/entry/spend.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { MailOutbox } from '../mail/mail-outbox.ts'
import { PasswordService } from './password-service.ts'
import { PUBLIC, spendOnAccount } from './public-limits.ts'
import {
  PasswordChangeBody,
  PasswordResetBody,
  PasswordResetConfirmBody,
  PasswordResetDocument,
  passwordResetToWire,
} from './schema-auth.ts'
import type { SessionService } from './session-service.ts'

export function passwordRoutes(server: FastifyInstance, deps: UsersDeps, sessions: SessionService): void {
  const passwords = new PasswordService({ ...deps, sessions, outbox: new MailOutbox(deps) })

  operation(server, {
    method: 'POST',
    url: '/api/v2/auth/password_resets',
    operationId: 'RequestPasswordReset',
    summary: 'Ask for a link to choose a new password',
    description: 'Always accepted, so that nobody learns which addresses are known. The link works for one hour.',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    schema: { body: PasswordResetBody, response: { 202: null } },
    async handler(request, reply) {
      const { email } = request.body.data.attributes
      await spendOnAccount(request, reply, email)
      await passwords.requestReset({ email })
      return reply.code(202).send()
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/auth/password_resets/confirm',
    operationId: 'ConfirmPasswordReset',
    summary: 'Choose a new password with the token of a link',
    description: 'For the link of a reset and for that of the first set-up. Every session of the user ends.',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    schema: { body: PasswordResetConfirmBody, response: { 200: PasswordResetDocument } },
    async handler(request) {
      const user = await passwords.confirmReset(request.body.data.attributes, clientOf(request))
      return passwordResetToWire(user)
    },
  })

  operation(server, {
    method: 'PATCH',
    url: '/api/v2/current_user/password',
    operationId: 'ChangePassword',
    summary: 'Change the password of the caller',
    description: 'Needs the current one, else 403. The other sessions of the user end.',
    surface: 'users',
    access: 'signed_in',
    rateLimit: 'users_write',
    schema: { body: PasswordChangeBody, response: { 204: null } },
    async handler(request, reply) {
      await spend(request, reply, { bucket: 'public_auth_account', per: 'user' })
      await passwords.change(request.principal as Principal, request.body.data.attributes, clientOf(request))
      return reply.code(204).send()
    },
  })
}
