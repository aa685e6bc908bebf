import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Remake } from '../idempotency/idempotency.ts'
import type { Access } from './entry/access.ts'
import type { RateRule } from './entry/rate-rules.ts'
import type { JsonSchema } from './input/problem-texts.ts'
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
  /** By status: successes, and errors that do not have the shape of the surface. `null` is an answer without a body. */
  response: Readonly<Record<number, TSchema | RawBody | null>>
}

type Part<Schema> = Schema extends TSchema ? Static<Schema> : unknown

export type OperationRequest<S extends OperationSchema = OperationSchema> = FastifyRequest & {
  params: Part<S['params']>
  query: Part<S['querystring']>
  body: Part<S['body']>
}

/** How an operation honours `Idempotency-Key`. */
export interface Idempotent {
  /** Members of the answer that are kept empty, besides those with the name of a secret. */
  blank?: readonly string[]
  /** The answer shows only what callers wrote, names included, so it is kept whole: `token` there is a word like others. */
  isCallersOwn?: true
  /** For answers that may be too large to be kept, or show too many people. */
  remake?(request: FastifyRequest, kept: Parameters<Remake>[0]): ReturnType<Remake>
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
  /** Bytes, where it differs from the surface's. Never more than `server.body_limit`. */
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
