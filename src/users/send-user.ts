import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from '../platform/http/send-hook.ts'
import { type UserDocument, userTag } from './user-document.ts'

/** For documents that are built member by member: the schema would leave nothing out, and its unions are slow. */
export function sendDocument(reply: FastifyReply, document: object): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(document))
}

export function sendUser(reply: FastifyReply, document: UserDocument): FastifyReply {
  return sendDocument(reply.header('etag', userTag(document.data)), document)
}
