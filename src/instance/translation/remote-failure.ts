import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'

const BODY = JSON.stringify({ error: 'Remote data could not be fetched' })

/** 503 with a text of its own: it is not our storage that fails. */
export function remoteFailure(reply: FastifyReply): FastifyReply {
  reply.code(503).header('cache-control', 'private, no-store').header('retry-after', '30')
  return reply.type(JSON_TYPE).send(BODY)
}
