import type { FastifyReply, FastifyRequest } from 'fastify'
import { closedSignal } from '../answer/gone-signal.ts'
import { refuseUnlessStillAllowed } from './still-allowed.ts'

/** Somebody whose turn for an answer may come late. */
export interface Waiting {
  gone: AbortSignal
  /** Fails for who may not have it any more. */
  judgeAgain(): Promise<void>
}

export function waitingOf(request: FastifyRequest, reply: FastifyReply): Waiting {
  return { gone: closedSignal(reply.raw), judgeAgain: () => refuseUnlessStillAllowed(request) }
}
