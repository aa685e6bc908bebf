import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors/app-error.ts'
import { isSharedAcrossOrigins, preflightHeaders } from '../connection/header-blocks.ts'
import { HttpResponse, type RouteLabel } from '../connection/response.ts'
import { applyVerdict, spendsOf } from '../entry/rate-rules.ts'
import { rateRulesOf } from '../operation.ts'
import type { HttpPlatform, PathEntry } from '../platform.ts'
import { routedPath, surfaceOf } from '../surface.ts'

/** Requests that match no route: a preflight, a question for the methods, a wrong method, or no such path. */
export async function answerUnknownRoute(
  platform: HttpPlatform,
  label: RouteLabel,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (reply.raw instanceof HttpResponse) reply.raw.label = label
  const path = routedPath(request.raw.url ?? '/')
  const entry = platform.paths.find(path)
  if (request.method === 'OPTIONS' && answerOptions(path, entry, request, reply)) return
  await countUnknown(platform, path, entry, request, reply)
  if (entry === null) throw new AppError('not_found', 'Not Found')
  throw new AppError('method_not_allowed', 'Method not allowed', { headers: { allow: allowedMethods(entry) } })
}

function answerOptions(path: string, entry: PathEntry | null, request: FastifyRequest, reply: FastifyReply): boolean {
  const isPreflight = isSharedAcrossOrigins(path) && request.headers['access-control-request-method'] !== undefined
  if (!isPreflight && entry === null) return false
  if (isPreflight) {
    const asked = request.headers['access-control-request-headers'] as string | undefined
    reply.headers(preflightHeaders(path, asked, entry?.has('QUERY') ?? false))
  }
  if (entry !== null) reply.header('allow', allowedMethods(entry))
  reply.code(204).send()
  return true
}

/** The instance surface counts every request to its paths, also those that come to nothing. */
async function countUnknown(
  platform: HttpPlatform,
  path: string,
  entry: PathEntry | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const sibling = entry?.values().next().value
  const surface = sibling?.surface ?? surfaceOf(path)
  const ofSibling = surface === 'instance' && sibling !== undefined ? rateRulesOf(sibling) : undefined
  const rules = ofSibling ?? platform.unknownRouteLimits?.(path) ?? []
  if (rules.length === 0) return
  const verdict = await platform.rateLimiter.spend(spendsOf(rules, null, request))
  applyVerdict(verdict, surface, reply, platform.clock.now())
}

/** `GET, HEAD, OPTIONS` */
function allowedMethods(entry: PathEntry): string {
  const methods = [...entry].flatMap(([method, { withoutHead }]) =>
    method === 'GET' && !withoutHead ? ['GET', 'HEAD'] : [method],
  )
  return [...methods, 'OPTIONS'].join(', ')
}
