import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { OperationRequest } from '../../platform/http/operation-options.ts'
import type { UsersDeps } from '../deps.ts'
import { requireUser } from '../look-up.ts'
import { userDocument } from '../user/user-document.ts'
import { PUBLIC, spendOnAccount } from './public-limits.ts'
import { passwordRoutes } from './routes-password.ts'
import { sessionRoutes } from './routes-sessions.ts'
import { totpRoutes } from './routes-totp.ts'
import { SignedInDocument, SignInBody, sessionMeta } from './schema-auth.ts'
import { answerWithSession, forgetSession } from './session-answer.ts'
import { SessionService } from './session-service.ts'
import { SignInService } from './sign-in-service.ts'
import { TotpService } from './totp-service.ts'

export function authRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const sessions = new SessionService(deps)
  const totp = new TotpService(deps)
  sessions.schedulePurge(deps.jobs)
  signInRoutes(server, deps, sessions, new SignInService({ ...deps, sessions, totp }))
  sessionRoutes(server, deps, sessions)
  totpRoutes(server, totp)
  passwordRoutes(server, deps, sessions)
}

function signInRoutes(
  server: FastifyInstance,
  deps: UsersDeps,
  sessions: SessionService,
  signIns: SignInService,
): void {
  operation(server, {
    method: 'POST',
    url: '/api/v2/auth/sign_in',
    operationId: 'SignIn',
    summary: 'Sign in with a password, and a second factor where there is one',
    description:
      'Answers the session token and sets it as a cookie. 401 "TOTP code required" asks for the code of the second factor or a recovery code; every other refusal is 401 "Sign-in failed".',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    schema: { body: SignInBody, response: { 200: SignedInDocument } },
    async handler(request, reply) {
      const { email, password, totp = null } = request.body.data.attributes
      await spendOnAccount(request, reply, email)
      const { user, session } = await signIns.signIn({ email, password, code: totp }, clientOf(request))
      const document = await userDocument(deps.db, user, deps)
      return { ...document, meta: { session: answerWithSession(reply, deps, session) } }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/auth/sign_out',
    operationId: 'SignOut',
    summary: 'End the session of the caller',
    surface: 'users',
    access: 'signed_in',
    rateLimit: 'users_write',
    schema: { response: { 204: null } },
    async handler(request, reply) {
      await endOwnSession(request, sessions)
      forgetSession(reply, deps)
      return reply.code(204).send()
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/auth/session',
    operationId: 'GetSession',
    summary: 'Get the session of the caller and its user',
    description:
      'The token itself is not shown again. A caller without a session is answered with 401; one whom the server trusts without a sign-in (dev mode) has no session, and meta.session is null.',
    surface: 'users',
    access: 'optional',
    rateLimit: 'users_read',
    cacheControl: 'private, no-store',
    schema: { response: { 200: SignedInDocument } },
    async handler({ principal }) {
      const session = principal === null ? undefined : await sessions.current(principal)
      const isTrusted = principal?.method === 'dev'
      if (principal === null || principal.userId === null || (session === undefined && !isTrusted)) {
        throw new AppError('unauthenticated', 'Unauthorized')
      }
      const user = await requireUser(deps.db, principal, principal.userId)
      const document = await userDocument(deps.db, user, deps)
      return { ...document, meta: { session: session === undefined ? null : sessionMeta(session) } }
    },
  })
}

async function endOwnSession(request: OperationRequest, sessions: SessionService): Promise<void> {
  const { principal } = request
  if (principal === null || principal.method === 'dev') return
  const session = await sessions.current(principal)
  if (session === undefined) {
    throw new AppError('failed_precondition', 'There is no session to sign out of: tokens and keys are revoked instead')
  }
  const { userId, id: sessionId } = session
  await sessions.revoke(principal, { userId, sessionId }, clientOf(request))
}
