import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { Surface } from '../surface.ts'
import { codingFor, compress, compressStream, isCompressible, MIN_COMPRESSED_BYTES, varyBy } from './compression.ts'
import { matchesNone, weakETag } from './etag.ts'

type Done = (error: Error | null, payload?: unknown) => void

export interface SendOptions {
  surface: Surface
  /** Tag successful answers by their content and answer 304 when the caller has it. */
  etag: boolean
}

/** What happens to a body between the handler and the wire: media type, tag, compression, in this order. */
export function sendHook({ surface, etag }: SendOptions): onSendHookHandler<unknown> {
  const isUsers = surface === 'users'
  return function onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) {
    if (isUsers) useWantedType(request, reply)
    if (payload === null || payload === undefined) {
      return reply.statusCode === 304 ? done(null, noBody(request)) : done(null)
    }
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    const isPackable = !(isWhole && payload.length < MIN_COMPRESSED_BYTES) && isCompressible(reply)
    // A 304 says it, too.
    if (isPackable) varyBy(reply, 'Accept-Encoding')
    if (etag && isWhole && reply.statusCode === 200) {
      if (!reply.hasHeader('etag')) reply.header('etag', weakETag(payload))
      if (matchesNone(request.headers['if-none-match'], reply.getHeader('etag') as string)) {
        reply.code(304).removeHeader('content-type').removeHeader('content-length')
        return done(null, noBody(request))
      }
    }
    const coding = isPackable ? codingFor(request.headers['accept-encoding']) : null
    if (isWhole) {
      if (coding === null) return done(null)
      compress(payload, coding, (error, packed) => {
        if (error === null) reply.header('content-encoding', coding).removeHeader('content-length')
        done(error, packed)
      })
    } else if (isReadable(payload)) {
      if (coding !== null) reply.header('content-encoding', coding).removeHeader('content-length')
      if (request.method === 'HEAD') done(null, unread(payload))
      else done(null, coding === null ? payload : compressStream(payload, coding))
    } else done(null)
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8'
export const VENDOR_TYPE = 'application/vnd.api+json'

/** The users surface answers in the JSON:API type to a caller who asks for that and not for plain JSON. */
export function wantsVendorType(accepted: string | undefined): boolean {
  if (accepted === undefined) return false
  return accepted.includes(VENDOR_TYPE) && !accepted.includes('application/json')
}

function useWantedType(request: FastifyRequest, reply: FastifyReply): void {
  if (wantsVendorType(request.headers.accept) && reply.getHeader('content-type') === JSON_TYPE) {
    reply.header('content-type', VENDOR_TYPE)
  }
}

/**
 * Fastify's own hook for HEAD comes next. It fails over null, and tells the length of anything else, which is not that of the document. Of
 * a stream it tells nothing.
 */
function noBody({ method }: FastifyRequest): Readable | null {
  return method === 'HEAD' ? Readable.from([]) : null
}

/** Nobody reads it, yet Fastify's hook would have all of it made. */
function unread(stream: Readable): Readable {
  stream.on('error', () => {}).destroy()
  return Readable.from([])
}

function isReadable(payload: unknown): payload is Readable {
  return typeof (payload as { pipe?: unknown }).pipe === 'function'
}
