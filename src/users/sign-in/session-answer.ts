import type { FastifyReply } from 'fastify'
import { clearedSessionCookie, sessionCookie } from '../../platform/auth/session-cookie.ts'
import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { sessionMeta, type WireSessionMeta } from './schema-auth.ts'
import type { StartedSession } from './session.ts'

interface SessionAnswerDeps {
  clock: Clock
  baseUrl(): string
}

/** Sets the cookie; the answer is `meta.session` of a document that signs somebody in (see `SignedInDocument`). */
export function answerWithSession(
  reply: FastifyReply,
  { clock, baseUrl }: SessionAnswerDeps,
  started: StartedSession,
): WireSessionMeta {
  const maxAgeMs = (started.expiresAt - clock.now()) / MICROS_PER_MS
  reply.header('set-cookie', sessionCookie(started.token, maxAgeMs, baseUrl()))
  // The body holds the token, too.
  reply.header('cache-control', 'private, no-store')
  return sessionMeta(started)
}

export function forgetSession(reply: FastifyReply, { baseUrl }: Pick<SessionAnswerDeps, 'baseUrl'>): void {
  reply.header('set-cookie', clearedSessionCookie(baseUrl()))
}
