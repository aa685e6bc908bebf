/**
 * Answers with a prepared body. Headers that are the same for every caller travel as one piece of text, and the bytes go
 * to the socket without the steps that turn a value into a body: together they would cost as much as the rest.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { codingFor } from '../../platform/http/answer/compression.ts'
import { matchesNone } from '../../platform/http/answer/etag.ts'
import type { HttpResponse } from '../../platform/http/connection/response.ts'
import { readHttpDate } from '../../platform/text/http-date.ts'
import type { PreparedAnswer, PreparedBody } from './prepared-body.ts'

export interface Caching {
  cacheControl: string
  /** Whether what is answered depends on who asks. */
  variesByCaller: boolean
}

export const PRIVATE = 'private, no-store'

/** One copy serves everybody, also callers who send a token. */
export const FOR_EVERYBODY: Caching = {
  cacheControl: 'max-age=300, public, stale-while-revalidate=30, stale-if-error=86400',
  variesByCaller: false,
}
export const FOR_THIS_CALLER: Caching = { cacheControl: PRIVATE, variesByCaller: true }
export const FOR_STRANGERS: Caching = {
  cacheControl: 'max-age=15, public, stale-while-revalidate=30, stale-if-error=86400',
  variesByCaller: true,
}

/** The bytes, or 304 when the caller has them. A promise only while they are compressed for the first time. */
export function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: PreparedBody,
  caching: Caching = FOR_EVERYBODY,
): Promise<undefined> | undefined {
  const head = headOf(body, caching)
  if (isKnown(request.headers, body)) return write(reply, 304, head)
  const coding = body.isCompressible ? codingFor(request.headers['accept-encoding']) : null
  if (coding === null) return write(reply, 200, head, body.plain)
  const packed = body.packed(coding)
  if (!(packed instanceof Promise)) return write(reply, 200, head, packed)
  return packed.then((answer) => write(reply, 200, head, answer))
}

/** For an endpoint that is switched off: no body, and no type that a client would try to parse. */
export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(404).header('cache-control', PRIVATE).send()
}

function write(reply: FastifyReply, status: number, head: string, answer?: PreparedAnswer): undefined {
  const response = reply.raw as HttpResponse
  response.headerBlock += answer === undefined ? head : head + answer.head
  // Those that others set for this request, such as what is left of a limit.
  const headers = reply.getHeaders()
  // Node has to know it, or it would send the bytes in pieces of which each says how long it is.
  if (answer !== undefined) headers['content-length'] = String(answer.bytes.length)
  reply.hijack()
  response.writeHead(status, headers as Record<string, string>)
  response.end(answer?.bytes)
}

const heads = new WeakMap<PreparedBody, Map<Caching, string>>()

/** How long and for whom the body may be kept. */
export function headOf(body: PreparedBody, caching: Caching): string {
  const known = heads.get(body)?.get(caching)
  if (known !== undefined) return known
  const names = [caching.variesByCaller && 'Authorization', body.isCompressible && 'Accept-Encoding'].filter(Boolean)
  const lines = [`cache-control: ${caching.cacheControl}`, `etag: ${body.etag}`]
  if (names.length > 0) lines.push(`vary: ${names.join(', ')}`)
  if (body.lastModified !== null) lines.push(`last-modified: ${body.lastModified}`)
  const head = `${lines.join('\r\n')}\r\n`
  heads.set(body, (heads.get(body) ?? new Map()).set(caching, head))
  return head
}

/** `If-None-Match` wins over `If-Modified-Since`. */
export function isKnown(headers: FastifyRequest['headers'], { etag, lastModified }: PreparedBody): boolean {
  if (headers['if-none-match'] !== undefined) return matchesNone(headers['if-none-match'], etag)
  const since = headers['if-modified-since']
  if (since === undefined || lastModified === null) return false
  const modifiedMs = Date.parse(lastModified)
  const sinceMs = readHttpDate(since, modifiedMs)
  return sinceMs !== undefined && sinceMs >= modifiedMs
}
