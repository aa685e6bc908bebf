import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import type { User } from './user.ts'
import { type UserDocument, type UserText, userTag } from './user-document.ts'

/** As `Location` names it. */
export function placeOf({ id }: Pick<User, 'id'>): string {
  return `/api/v2/users/${id}`
}

/** For documents that are built member by member: the schema would leave nothing out, and its unions are slow. */
export function sendDocument(reply: FastifyReply, document: object): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(document))
}

export function sendUser(reply: FastifyReply, { data, included }: UserDocument): FastifyReply {
  return sendUserText(reply, { data: JSON.stringify(data), included: JSON.stringify(included) })
}

export function sendUserText(reply: FastifyReply, { data, included }: UserText): FastifyReply {
  return reply.header('etag', userTag(data)).type(JSON_TYPE).send(`{"data":${data},"included":${included}}`)
}
