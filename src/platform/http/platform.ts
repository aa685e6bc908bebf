import type { FastifyInstance } from 'fastify'
import type { Denial } from '../audit/denials.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../clock/clock.ts'
import type { Idempotency } from '../idempotency/idempotency.ts'
import type { Logger } from '../logging/logger.ts'
import type { SharedMemory } from '../memory/shared-memory.ts'
import type { RateLimiter } from '../rate-limit/rate-limiter.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { AccessLog } from './connection/access-log.ts'
import type { HttpRequest, HttpResponse } from './connection/response.ts'
import type { RateRule } from './entry/rate-rules.ts'
import type { AnyOperation } from './operation-options.ts'
import type { RouteIndex } from './route/route-index.ts'

export interface HttpSettings {
  base_url: string | null
  trusted_proxies: readonly string[]
  body_limit: number
  header_limit: number
  /** Milliseconds, 0 for none, as all of these. */
  request_timeout: number
  idle_timeout: number
  unread_timeout: number
  keep_alive_timeout: number
  max_connections: number
}

export type Readiness = { ready: true } | { ready: false; reason: string }

export interface HttpDeps {
  settings: HttpSettings
  mode: 'dev' | 'serve'
  version: string
  log: Logger
  clock: Clock
  metrics: Metrics
  authenticator: Authenticator
  rateLimiter: RateLimiter
  /** One short word or phrase for a reason: it is public. */
  readiness(): Promise<Readiness>
  accessLog?: boolean
  /** Keeps answers for repeated requests; without it `Idempotency-Key` has no effect. */
  idempotency?: Idempotency
  /** For large bodies, by caller; of its own unless given. */
  bodyMemory?: SharedMemory<string>
  /** Told about callers with good credentials who lack the permission. Must not throw. */
  onDenied?(denial: Denial): void
  /** Limits on requests that no operation answers, by their path, where somebody wants them counted. */
  unknownRouteLimits?(path: string): readonly RateRule[]
  /** The name of the server, where somebody gave it another than that of its host. */
  realm?(): string
}

/** What has to be known of an operation, or of a method of RPC, to answer who asks for another method. */
export interface Offer extends Pick<AnyOperation, 'surface' | 'rateLimit'> {
  /** Of a GET that answers no HEAD. */
  withoutHead?: true
}

/** What shares a path, by method. */
export type PathEntry = Map<string, Offer>

/**
 * Answers a GET or HEAD before the framework sees it: for bodies that are ready, where everything between the socket and
 * them costs more than they do. False leaves the request to its operation, which must answer in the same way.
 */
export type Shortcut = (request: HttpRequest, response: HttpResponse<HttpRequest>) => boolean

/** What the parts of one HTTP server share. `server.platform` for whoever registers routes. */
export interface HttpPlatform extends HttpDeps {
  readonly bodyMemory: SharedMemory<string>
  readonly accessLines: AccessLog
  readonly operations: Map<string, AnyOperation>
  readonly paths: RouteIndex<PathEntry>
  /** By the whole address of a request, with its query string. */
  readonly shortcuts: Map<string, Shortcut>
  /** `http://localhost:4040`, or the configured base address. */
  origin(): string
}

declare module 'fastify' {
  interface FastifyInstance {
    platform: HttpPlatform
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

/** The port is known once the server listens. It is kept: every request with credentials asks for it, and asking the socket is a system call. */
export function originOf(server: FastifyInstance, baseUrl: string | null): () => string {
  let origin = baseUrl
  return () => {
    if (origin !== null) return origin
    const address = server.server.address()
    if (typeof address !== 'object' || address === null) return 'http://localhost'
    origin = `http://localhost:${address.port}`
    return origin
  }
}
