import type { FastifyInstance, RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { LARGE_BODY_BYTES } from '../memory/body-room.ts'
import { idempotentHooks } from './answer/idempotent.ts'
import { sendHook } from './answer/send-hook.ts'
import { PAGE_HEADERS } from './connection/header-blocks.ts'
import { isOpen } from './entry/access.ts'
import { guard } from './entry/guard.ts'
import type { RateRule } from './entry/rate-rules.ts'
import { judgeSlowAgain } from './entry/still-allowed.ts'
import { largeBodyHook } from './input/large-body.ts'
import type { AnyOperation, Idempotent, OperationOptions, OperationSchema, RawBody } from './operation-options.ts'
import type { HttpPlatform } from './platform.ts'
import { routeLabel } from './route/route-label.ts'

const USERS_BODY_LIMIT = 1024 * 1024

/** Declares one operation: route, access, rate limit, schemas and documentation in one place. */
export function operation<const S extends OperationSchema>(
  server: FastifyInstance,
  options: OperationOptions<S>,
): void {
  const { platform } = server
  const { method, surface, schema } = options
  refuseMistakes(platform, options)
  platform.operations.set(options.operationId, options)
  const label = routeLabel(platform, options.operationId, options.url)
  const methods = [method, ...(options.alsoBy ?? [])]
  const hasBody = methods.some((name) => name !== 'GET')
  const bodyLimit = bodyLimitOf(platform, options)
  const hooks = {
    onRequest: guard(platform, {
      access: options.access,
      surface,
      rateRules: rateRulesOf(options),
      label,
      deadlineMs: options.deadlineMs,
      headerBlock: options.page ? PAGE_HEADERS : undefined,
      cacheControl: options.cacheControl ?? (isPublic(options) ? null : 'private, no-cache'),
    }),
    ...(hasBody && bodyLimit > LARGE_BODY_BYTES ? { preParsing: largeBodyHook(platform, bodyLimit) } : {}),
    ...(hasBody && !isOpen(options.access) ? { preValidation: judgeSlowAgain } : {}),
    ...sendHooks(platform, options),
  }
  for (const url of [options.url, ...(options.aliases ?? [])]) {
    const entry = platform.paths.at(url, () => new Map())
    for (const name of methods) entry.set(name, options)
    server.route({
      method: methods,
      url,
      ...hooks,
      bodyLimit,
      config: { operation: options },
      schema: { ...requestSchemas(schema), response: jsonResponses(schema.response) },
      handler: options.handler as unknown as RouteHandlerMethod,
    })
  }
}

function isPublic({ access }: Pick<AnyOperation, 'access'>): boolean {
  return access === 'public' || access === 'bearer'
}

function sendHooks(platform: HttpPlatform, options: AnyOperation): Partial<RouteShorthandOptions> {
  const onSend = sendHook({ surface: options.surface, etag: options.etag === true })
  const idempotent = idempotencyOf(options)
  const hooks = idempotent === null ? undefined : idempotentHooks(platform, options.surface, idempotent)
  // The answer is kept before it is compressed.
  return hooks === undefined ? { onSend } : { ...hooks, onSend: [hooks.onSend, onSend] }
}

/** How an operation honours `Idempotency-Key`; null when it does not. */
export function idempotencyOf({ idempotent, method, surface, access }: AnyOperation): Idempotent | null {
  if (idempotent !== undefined) return idempotent === false ? null : idempotent
  return method === 'POST' && surface === 'users' && access !== 'public' ? {} : null
}

export function rateRulesOf({ rateLimit }: Pick<AnyOperation, 'rateLimit'>): readonly RateRule[] {
  if (rateLimit === null) return []
  return typeof rateLimit === 'string' ? [{ bucket: rateLimit, per: 'owner' }] : rateLimit
}

export function isRawBody(body: TSchema | RawBody | null): body is RawBody {
  return body !== null && 'contentType' in body
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: AnyOperation
  }
}

function bodyLimitOf(platform: HttpPlatform, { bodyLimit, surface }: AnyOperation): number {
  const { body_limit: most } = platform.settings
  return Math.min(bodyLimit ?? (surface === 'users' ? USERS_BODY_LIMIT : most), most)
}

/** Only those that are there: the framework warns of members that are undefined. */
function requestSchemas({ params, querystring, body }: OperationSchema): Omit<OperationSchema, 'response'> {
  return { ...(params && { params }), ...(querystring && { querystring }), ...(body && { body }) }
}

function jsonResponses(response: OperationSchema['response']): Record<string, TSchema> {
  const schemas: Record<string, TSchema> = {}
  for (const [status, body] of Object.entries(response)) {
    if (body !== null && !isRawBody(body)) schemas[status] = body
  }
  return schemas
}

function refuseMistakes(platform: HttpPlatform, options: AnyOperation): void {
  const { operationId, schema, url } = options
  if (platform.operations.has(operationId)) throw new Error(`Two operations are called ${operationId}`)
  if (Object.keys(schema?.response ?? {}).length === 0) throw new Error(`${operationId} says no response`)
  if (!url.startsWith('/')) throw new Error(`The path of ${operationId} must begin with a slash`)
  if (options.surface === 'users' && idempotencyOf(options)?.isCallersOwn) {
    throw new Error(`${operationId} answers with credentials or could one day: its answers are not kept whole`)
  }
}
