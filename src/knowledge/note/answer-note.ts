import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import { etagOf } from './preconditions.ts'
import type { EntityDocument } from './schema-notes.ts'

/**
 * Not by the schema, which would leave nothing out: of a note with hundreds of thousands of observations that takes a second, in which
 * nobody else is served.
 */
export function answerNote(reply: FastifyReply, document: EntityDocument): FastifyReply {
  return reply.header('etag', etagOf(document)).type(JSON_TYPE).send(JSON.stringify(document))
}
