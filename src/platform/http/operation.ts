import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { type Idempotent, idempotentHooks } from './answer/idempotent.ts'
import { sendHook } from './answer/send-hook.ts'
import { PAGE_HEADERS } from './connection/header-blocks.ts'
import type { Access } from './entry/access.ts'
import { guard } from './entry/guard.ts'
import type { RateRule } from './entry/rate-rules.ts'
import type { JsonSchema } from './input/problem-texts.ts'
import type { HttpPlatform } from './platform.ts'
import { routeLabel } from './route/route-label.ts'
import type { Surface } from './surface.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A body that is no JSON document: a page, an image, a stream of lines. */
export interface RawBody {
  contentType: string
  description: string
}

/** `If-None-Match` with `*`: only where there is nothing yet; with tags: only where it is none of these. */
export type Condition = 'If-Match' | 'If-None-Match'

export type SentHeader = 'ETag' | 'Location' | 'Link' | 'Deprecation'

export interface OperationSchema {
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  /** By status, successes only: errors have the shape of the surface. `null` is an answer without a body. */
  response: Readonly<Record<number, TSchema | RawBody | null>>
}

type Part<Schema> = Schema extends TSchema ? Static<Schema> : unknown

export type OperationRequest<S extends OperationSchema = OperationSchema> = FastifyRequest & {
  params: Part<S['params']>
  query: Part<S['querystring']>
  body: Part<S['body']>
}

export interface OperationOptions<S extends OperationSchema = OperationSchema> {
  method: Method
  /** Further methods that do the same. OpenAPI 3.1 has no place for `QUERY`, so they are not listed in the documentation. */
  alsoBy?: readonly 'QUERY'[]
  url: string
  /** Further paths of the same operation; they are not listed in the documentation. */
  aliases?: readonly string[]
  operationId: string
  /** One line, imperative: "Create a user". */
  summary: string
  /** Markdown is not rendered: plain sentences. */
  description?: string
  tags?: readonly string[]
  surface: Surface
  /** The one place where an operation says who may call it. */
  access: Access
  /** A bucket counted per credential owner, or rules; null for none. */
  rateLimit: string | readonly RateRule[] | null
  /**
   * How long the caller waits, from the beginning of the request; null when it did not say. Looking up its credentials takes no
   * longer; the rest is the handler's, and so is a header that cannot be read.
   */
  deadlineMs?(headers: FastifyRequest['headers']): number | null
  schema: S
  /** A media type in which body and answers are also taken and given, for the documentation. */
  alsoAs?: string
  /** Media types in which the body is taken, each with what it holds: beside JSON, or instead where no schema says it is JSON. */
  takes?: Readonly<Record<string, JsonSchema>>
  /** Which headers the handler asks before it changes anything, for the documentation. */
  conditions?: readonly Condition[]
  /** Which headers the handler gives its answers, for the documentation. */
  sends?: readonly SentHeader[]
  /** Bytes, where it differs from the surface's. */
  bodyLimit?: number
  /** Tag answers by content and answer `If-None-Match` with 304. */
  etag?: boolean
  /** Whether `Idempotency-Key` is honoured. By default on every POST of the users surface that knows its caller. */
  idempotent?: Idempotent | false
  /** Of successful answers; `private, no-cache` by default unless the operation is public, or says it by itself. */
  cacheControl?: string
  /** The answer is a page for people: it may have a style sheet. */
  page?: boolean
  deprecated?: boolean
  handler(request: OperationRequest<S>, reply: FastifyReply): unknown
}

// biome-ignore lint/suspicious/noExplicitAny: kept together for documentation and for 405, whatever their schemas are
export type AnyOperation = OperationOptions<any>

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
    ...sendHooks(platform, options),
  }
  const methods = [method, ...(options.alsoBy ?? [])]
  for (const url of [options.url, ...(options.aliases ?? [])]) {
    const entry = platform.paths.at(url, () => new Map())
    for (const name of methods) entry.set(name, options)
    server.route({
      method: methods,
      url,
      ...hooks,
      bodyLimit: bodyLimitOf(platform, options),
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
  return (
    bodyLimit ??
    (surface === 'users' ? Math.min(USERS_BODY_LIMIT, platform.settings.body_limit) : platform.settings.body_limit)
  )
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
