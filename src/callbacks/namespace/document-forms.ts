/** Documents whose JSON says more than that of their message, as namespaces do: each form is read and written by itself. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../platform/clock/clock.ts'
import { varyBy } from '../../platform/http/answer/compression.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import { withinDeadline } from '../../platform/http/answer/within-deadline.ts'
import { parseJsonBody } from '../../platform/http/input/json-body.ts'
import { HttpCall } from '../http/http-call.ts'
import { isBinary, wantsBinary, writeBinary } from '../http/message-body.ts'
import { readBinary } from '../wire/binary.ts'
import { indentedText } from '../wire/indented-text.ts'
import { type QueryValues, readFlags, withPath } from '../wire/read-request.ts'

/** An answer in both forms, of which one is made. */
export interface DocumentForms<Desc extends DescMessage> {
  readonly desc: Desc
  message(): MessageShape<Desc>
  json(): unknown
}

/** What a body asks for; nothing at all is a document with nothing set. */
export function readDocument<Desc extends DescMessage, Wish>(
  request: FastifyRequest,
  desc: Desc,
  fromMessage: (message: MessageShape<Desc>) => Wish,
  fromJson: (json: unknown) => Wish,
): Wish {
  const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  if (isBinary(request)) return fromMessage(withPath(desc, {}, () => readBinary(desc, body)))
  const json = parseJsonBody(body)
  return fromJson(json === undefined ? {} : json)
}

export function documentHandler<Desc extends DescMessage>(
  clock: Clock,
  work: (request: FastifyRequest, call: HttpCall, reply: FastifyReply) => Promise<DocumentForms<Desc>>,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> => {
    const call = new HttpCall(request, reply)
    const { deadlineMs } = call
    const begin = () => work(request, call, reply)
    const { desc, message, json } = await (deadlineMs === null ? begin() : withinDeadline(clock, deadlineMs, begin))
    varyBy(reply, 'Accept')
    if (wantsBinary(request)) return writeBinary(desc, message(), reply)
    reply.header('content-type', JSON_TYPE)
    return readFlags(request.query as QueryValues).pretty ? indentedText(json()) : JSON.stringify(json())
  }
}
