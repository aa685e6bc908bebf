import type { FastifyReply, FastifyRequest } from 'fastify'
import { closedSignal } from '../../platform/http/answer/gone-signal.ts'
import { refuseUnlessStillAllowed } from '../../platform/http/entry/still-allowed.ts'
import type { Waiting } from './list-users.ts'

export function waitingOf(request: FastifyRequest, reply: FastifyReply): Waiting {
  return { gone: closedSignal(reply.raw), judgeAgain: () => refuseUnlessStillAllowed(request) }
}
