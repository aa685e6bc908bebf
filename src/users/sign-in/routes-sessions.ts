import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { isSession, type Principal } from '../../platform/auth/principal.ts'
import { selfOr } from '../../platform/http/entry/access.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import type { UsersDeps } from '../deps.ts'
import { SessionListDocument, sessionToWire } from './schema-auth.ts'
import type { Session } from './session.ts'
import { forgetSession } from './session-answer.ts'
import type { SessionService } from './session-service.ts'

const access = selfOr('user_access_manage', 'user_id')
const UserPath = Type.Object({ user_id: Type.String() })
const SessionPath = Type.Object({ user_id: Type.String(), session_id: Type.String() })

export function sessionRoutes(server: FastifyInstance, deps: UsersDeps, sessions: SessionService): void {
  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id/sessions',
    operationId: 'ListUserSessions',
    summary: 'List the sessions of a user',
    surface: 'users',
    access,
    rateLimit: 'users_read',
    schema: { params: UserPath, response: { 200: SessionListDocument } },
    async handler({ params, principal }) {
      const caller = principal as Principal
      const found = await sessions.list(caller, { userId: pathId<'User'>('User', params.user_id) })
      return { data: found.map((session) => sessionToWire(session, isCurrent(session, caller))) }
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/users/:user_id/sessions',
    operationId: 'DeleteUserSessions',
    summary: 'End every session of a user',
    surface: 'users',
    access,
    rateLimit: 'users_write',
    schema: { params: UserPath, response: { 204: null } },
    async handler(request, reply) {
      const caller = request.principal as Principal
      const userId = pathId<'User'>('User', request.params.user_id)
      await sessions.revokeAll(caller, { userId }, clientOf(request))
      if (caller.method === 'cookie' && caller.userId === userId) forgetSession(reply, deps)
      return reply.code(204).send()
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/users/:user_id/sessions/:session_id',
    operationId: 'DeleteUserSession',
    summary: 'End one session of a user',
    surface: 'users',
    access,
    rateLimit: 'users_write',
    schema: { params: SessionPath, response: { 204: null } },
    async handler(request, reply) {
      const caller = request.principal as Principal
      const userId = pathId<'User'>('User', request.params.user_id)
      const sessionId = pathId<'Session'>('Session', request.params.session_id)
      await sessions.revoke(caller, { userId, sessionId }, clientOf(request))
      if (caller.method === 'cookie' && caller.credentialId === sessionId) forgetSession(reply, deps)
      return reply.code(204).send()
    },
  })
}

function isCurrent(session: Session, principal: Principal): boolean {
  return isSession(principal) && principal.credentialId === session.id
}
