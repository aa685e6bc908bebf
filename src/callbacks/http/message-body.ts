import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { preferredType } from '../../platform/http/answer/preferred-type.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import { readBinary } from '../wire/binary.ts'
import { type TextOptions, writeText } from '../wire/json.ts'
import { parseJson } from '../wire/parse-json.ts'
import { type PathValues, readBodyRequest, withPath } from '../wire/read-request.ts'

export const BINARY_TYPE = 'application/x-protobuf'

/** The message of a body in the form that its media type says, with what the path says put over it. */
export function readBody<Desc extends DescMessage>(
  desc: Desc,
  request: FastifyRequest,
  path: PathValues,
  options: TextOptions,
  adaptJson: (json: unknown) => unknown = (json) => json,
): MessageShape<Desc> {
  // Nothing at all is the message with nothing set, in both forms.
  const body = (request.body as Buffer | undefined) ?? new Uint8Array(0)
  if (isBinary(request)) return withPath(desc, path, () => readBinary(desc, body))
  return readBodyRequest(desc, adaptJson(parseJson(body)), path, options)
}

export function writeBody<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  request: FastifyRequest,
  reply: FastifyReply,
  options: TextOptions,
): string | Buffer {
  if (wantsBinary(request)) return writeBinary(desc, message, reply)
  reply.header('content-type', JSON_TYPE)
  return writeText(desc, message, options)
}

export function writeBinary<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  reply: FastifyReply,
): Buffer {
  reply.header('content-type', BINARY_TYPE)
  const { buffer, byteOffset, byteLength } = toBinary(desc, message)
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Whether the body is one. */
export function isBinary({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase().startsWith(BINARY_TYPE) === true
}

/** Whether the answer is to be one. */
export function wantsBinary({ headers }: FastifyRequest): boolean {
  return preferredType(headers.accept, ['application/json', BINARY_TYPE]) === BINARY_TYPE
}
