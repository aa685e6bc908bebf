import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Authenticator } from '../../../src/platform/auth/authenticator.ts'
import type { PermissionName } from '../../../src/platform/auth/permissions.ts'
import type { OrganizationId, Principal, UserId } from '../../../src/platform/auth/principal.ts'
import { type Clock, SystemClock } from '../../../src/platform/clock/clock.ts'
import { listen } from '../../../src/platform/http/connection/listen.ts'
import type { HttpDeps, HttpSettings } from '../../../src/platform/http/platform.ts'
import { createHttpServer } from '../../../src/platform/http/server.ts'
import { newId } from '../../../src/platform/ids/uuid.ts'
import { createLogger } from '../../../src/platform/logging/logger.ts'
import type { BucketSettings } from '../../../src/platform/rate-limit/bucket.ts'
import { RateLimiter } from '../../../src/platform/rate-limit/rate-limiter.ts'
import { createMetrics } from '../../../src/platform/telemetry/metrics.ts'

export const ADA = newId<'User'>() as UserId

/** Knows a few tokens; everything else about authentication has its own tests. */
class TokenAuthenticator implements Authenticator {
  readonly #principals: Record<string, Principal> = {
    admin: principal(['admin']),
    reader: principal(['notes_read']),
    keys: { ...principal(['notes_read']), method: 'key_pair' },
    half: { ...principal([]), method: 'session', mustEnrol: true },
  }

  async authenticate(source: { header(name: string): string | undefined }) {
    const token = /^Bearer (.*)$/.exec(source.header('authorization') ?? '')?.[1]
    if (token === undefined) return { kind: 'none' } as const
    if (token === 'csrf') return { kind: 'bad', reason: 'csrf' } as const
    const known = this.#principals[token]
    return known === undefined ? ({ kind: 'bad' } as const) : ({ kind: 'ok', principal: known } as const)
  }
}

export function principal(permissions: PermissionName[]): Principal {
  return {
    kind: 'user',
    userId: ADA,
    organizationId: newId<'Organization'>() as OrganizationId,
    permissions: new Set(permissions),
    method: 'token',
    credentialId: newId(),
    csrfToken: null,
  }
}

export interface PlatformOptions extends Partial<Omit<HttpDeps, 'settings'>> {
  settings?: Partial<HttpSettings>
  buckets?: Record<string, BucketSettings>
  clock?: Clock
  routes?(server: FastifyInstance): void
}

export interface Platform extends AsyncDisposable {
  server: FastifyInstance
  url: string
  port: number
  /** Everything that was logged so far. */
  log(): string
}

const SETTINGS: HttpSettings = {
  base_url: null,
  trusted_proxies: [],
  body_limit: 100_000,
  header_limit: 16_384,
  request_timeout: 30_000,
  idle_timeout: 72_000,
  unread_timeout: 10_000,
  keep_alive_timeout: 72_000,
  max_connections: 0,
}

/** The real server on a free port, with the routes of the test. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const lines: string[] = []
  const log = createLogger({ level: 'info', format: 'json', destination: { write: (text) => void lines.push(text) } })
  const clock = options.clock ?? new SystemClock()
  const { settings, buckets, routes, ...deps } = options
  const server = await createHttpServer({
    mode: 'serve',
    version: '1.2.3',
    log,
    clock,
    metrics: createMetrics({ process: false }),
    authenticator: new TokenAuthenticator(),
    rateLimiter: new RateLimiter({ buckets: buckets ?? {}, clock, log }),
    readiness: async () => ({ ready: true }),
    ...deps,
    settings: { ...SETTINGS, ...settings },
  })
  routes?.(server)
  const { url, port } = await listen(server, '127.0.0.1', 0)
  return {
    server,
    url,
    port,
    log: () => {
      server.platform.accessLines.flush()
      return lines.join('')
    },
    [Symbol.asyncDispose]: async () => {
      server.server.closeAllConnections()
      await server.close()
    },
  }
}

/** Writes bytes to the server and answers everything that came back until the connection ended. */
export function exchange(port: number, ...pieces: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      received += text
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    for (const piece of pieces) socket.write(piece)
  })
}

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
}

export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = new Map(
    lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]),
  )
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}
