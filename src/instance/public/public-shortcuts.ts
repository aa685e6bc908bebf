/**
 * The short way to what many ask for: a stranger, a view that is good, bytes that are ready. Whatever differs from that
 * is left to the operations, which answer the same.
 */
import type { FastifyInstance } from 'fastify'
import { codingFor } from '../../platform/http/answer/compression.ts'
import { CORS_HEADERS } from '../../platform/http/connection/header-blocks.ts'
import type { HttpRequest, HttpResponse } from '../../platform/http/connection/response.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { spendsOf } from '../../platform/http/entry/rate-rules.ts'
import { routeLabel } from '../../platform/http/route/route-label.ts'
import { rateHeaders } from '../../platform/rate-limit/rate-headers.ts'
import type { InstanceFace } from './instance-face.ts'
import type { PreparedAnswer, PreparedBody } from './prepared-body.ts'
import type { PublicBodies } from './public-bodies.ts'
import { FOR_EVERYBODY, headOf, isKnown } from './send-body.ts'

export interface ShortcutParts {
  face: InstanceFace
  bodies: PublicBodies
  rateLimit: readonly RateRule[]
}

/** Undefined when it takes more than bytes to answer. */
type Ready = () => PreparedBody | undefined

export function publicShortcuts(server: FastifyInstance, parts: ShortcutParts): void {
  const { face, bodies } = parts
  add(server, parts, '/api/v2/instance', 'GetInstance', () => {
    const view = face.peekCounted()
    return view && bodies.v2(view)
  })
  add(server, parts, '/api/v1/instance/rules', 'GetInstanceRules', () => {
    const view = face.peekSettled()
    return view && bodies.rules(view)
  })
  add(server, parts, '/api/v1/instance/peers', 'GetInstancePeers', () => {
    const view = face.peekSettled()
    if (view === undefined || view.lists.hostsMark !== null) return undefined
    const { whitelist_mode: isLimited, peers } = view.data.settings
    if (isLimited || !peers.enabled) return undefined
    const body = bodies.peers(view)
    return body instanceof Promise ? undefined : body
  })
}

function add(server: FastifyInstance, parts: ShortcutParts, path: string, operationId: string, ready: Ready): void {
  const { platform } = server
  const label = routeLabel(platform, operationId, path)
  const hasProxies = platform.settings.trusted_proxies.length > 0

  platform.shortcuts.set(path, (request, response) => {
    const { headers } = request
    if (headers.authorization !== undefined) return false
    if (hasProxies && headers['x-forwarded-for'] !== undefined) return false
    const body = ready()
    if (body === undefined) return false
    const isUnchanged = isKnown(headers, body)
    const coding = isUnchanged || !body.isCompressible ? null : codingFor(headers['accept-encoding'])
    const answer = coding === null ? body.plain : body.packed(coding)
    if (answer instanceof Promise) return false
    const limits = count(platform, parts.rateLimit, request)
    if (limits === null) return false
    response.label = label
    response.headerBlock = CORS_HEADERS + headOf(body, FOR_EVERYBODY) + limits
    if (isUnchanged) end(response, 304)
    else end(response, 200, answer)
    return true
  })
}

/** Node adds how long a body is that it sends, but not of one that HEAD only asks about. */
function end(response: HttpResponse<HttpRequest>, status: number, answer?: PreparedAnswer): void {
  response.statusCode = status
  if (answer !== undefined) response.headerBlock += answer.head
  if (response.req.method !== 'HEAD') response.end(answer?.bytes)
  else {
    if (answer !== undefined) response.headerBlock += `content-length: ${answer.bytes.length}\r\n`
    response.end()
  }
}

/** The headers of the limits as text; null when there is no room, which the operation says in its own way. */
function count(
  { rateLimiter, clock }: FastifyInstance['platform'],
  rules: readonly RateRule[],
  request: HttpRequest,
): string | null {
  const spends = spendsOf(rules, null, { ip: request.socket.remoteAddress ?? '' })
  if (spends.length === 0) return ''
  const verdict = rateLimiter.spend(spends)
  // Counted by each process alone, so there is nothing to wait for.
  if (verdict instanceof Promise || !verdict.allowed) return null
  const { tightest } = verdict
  if (tightest === null) return ''
  const named = rateHeaders('instant', tightest, clock.now())
  let text = ''
  for (const name in named) text += `${name}: ${named[name]}\r\n`
  return text
}
