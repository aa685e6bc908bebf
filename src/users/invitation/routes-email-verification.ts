import type { FastifyInstance } from 'fastify'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { PUBLIC } from '../sign-in/public-limits.ts'
import { confirmEmail } from './email-verification.ts'
import {
  EmailVerificationBody,
  EmailVerificationDocument,
  emailVerificationToWire,
} from './schema-email-verification.ts'

export function emailVerificationRoutes(server: FastifyInstance, deps: UsersDeps): void {
  operation(server, {
    method: 'POST',
    url: '/api/v2/auth/email_verifications/confirm',
    operationId: 'ConfirmEmail',
    summary: 'Prove an address with the token of a link',
    description: 'Any bad token (unknown, used, expired, of an address that was changed again) is answered with 404.',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    cacheControl: 'private, no-store',
    schema: { body: EmailVerificationBody, response: { 200: EmailVerificationDocument } },
    async handler(request) {
      return emailVerificationToWire(await confirmEmail(deps, request.body.data.attributes, clientOf(request)))
    },
  })
}
