/** A real server of both ports, with an authenticator that knows three bearer tokens and one cookie. */
import type { TestContext } from 'node:test'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import fastify from 'fastify'
import type { Authenticator } from '../../../src/platform/auth/authenticator.ts'
import type { PermissionName } from '../../../src/platform/auth/permissions.ts'
import type { AuthMethod, OrganizationId, Principal, UserId } from '../../../src/platform/auth/principal.ts'
import { SystemClock } from '../../../src/platform/clock/clock.ts'
import { RouteIndex } from '../../../src/platform/http/route/route-index.ts'
import { createLogger } from '../../../src/platform/logging/logger.ts'
import { createRpc, type RpcDeps } from '../../../src/platform/rpc/create-rpc.ts'
import { type GrpcListenOptions, listenGrpc } from '../../../src/platform/rpc/listen-grpc.ts'
import { registerRpc } from '../../../src/platform/rpc/register-rpc.ts'
import type { RpcService } from '../../../src/platform/rpc/rpc-service.ts'
import { probeService } from './probe-service.ts'

export const WRITER = 'Bearer writer'
export const READER = 'Bearer reader'
export const USER_ID = '01890000-0000-7000-8000-000000000001' as UserId
export const ORGANIZATION_ID = '01890000-0000-7000-8000-000000000002' as OrganizationId

function principal(method: AuthMethod, ...permissions: PermissionName[]): Principal {
  return {
    kind: 'user',
    userId: USER_ID,
    organizationId: ORGANIZATION_ID,
    permissions: new Set(permissions),
    method,
    credentialId: null,
    csrfToken: null,
  }
}

export const tinyAuthenticator: Authenticator = {
  async authenticate(source) {
    const authorization = source.header('authorization')
    if (authorization === WRITER)
      return { kind: 'ok', principal: principal('token', 'callbacks_write', 'callbacks_read') }
    if (authorization === READER) return { kind: 'ok', principal: principal('token', 'callbacks_read') }
    if (authorization === 'Bearer admin') return { kind: 'ok', principal: principal('token', 'admin') }
    if (authorization === 'Bearer broken') throw new Error('connect ECONNREFUSED 10.1.2.3:5432')
    if (authorization !== undefined) return { kind: 'bad' }
    if (source.header('x-api-key') === 'a' && source.header('x-application-key') === 'b') {
      return { kind: 'ok', principal: principal('key_pair', 'callbacks_read') }
    }
    if (source.header('cookie') === 'session=good') {
      if (source.method === 'POST' && source.header('x-csrf-token') !== 'csrf') return { kind: 'bad', reason: 'csrf' }
      return { kind: 'ok', principal: principal('cookie', 'callbacks_read') }
    }
    return { kind: 'none' }
  },
}

export interface LogLine extends Record<string, unknown> {
  msg: string
}

class Readiness {
  #status: 'serving' | 'not_serving' = 'serving'
  readonly listeners = new Set<() => void>()

  status() {
    return this.#status
  }

  subscribe(listener: () => void) {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  become(status: 'serving' | 'not_serving') {
    this.#status = status
    for (const listener of this.listeners) listener()
  }
}

type Options = Partial<Omit<RpcDeps, 'services'>> & { services?: RpcService[]; grpc?: Partial<GrpcListenOptions> }

export type RpcServer = Awaited<ReturnType<typeof startRpcServer>>

/** Stops with the test `t`; without one the caller stops it. */
export async function startRpcServer(t: Pick<TestContext, 'after'> | null, options: Options = {}) {
  const lines: LogLine[] = []
  const observed: { method: string; code: string }[] = []
  const readiness = new Readiness()
  const { services = [probeService()], grpc, ...deps } = options
  const rpc = createRpc({
    authenticator: tinyAuthenticator,
    clock: new SystemClock(),
    log: createLogger({
      level: 'debug',
      format: 'json',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    }),
    readiness,
    serverInfo: { version: '1.2.3', surfaces: ['users', 'callbacks'] },
    serverOrigin: () => 'http://localhost:4040',
    observe: (method, code) => void observed.push({ method, code }),
    services,
    ...deps,
  })
  const main = fastify({ forceCloseConnections: true })
  // As the HTTP platform does for every response.
  main.addHook(
    'onRequest',
    async (request, reply) => void reply.header('x-request-id', request.id).header('x-from-hook', 'yes'),
  )
  await registerRpc(main, rpc, new RouteIndex())
  const baseUrl = await main.listen({ host: '127.0.0.1', port: 0 })
  const listener = await listenGrpc(rpc, { host: '127.0.0.1', port: 0, ...grpc })
  const grpcUrl = `http://127.0.0.1:${listener.port}`
  async function stop() {
    await listener.close(0)
    await main.close()
  }
  t?.after(stop)
  return { stop, rpc, main, listener, baseUrl, grpcUrl, readiness, lines, observed }
}

export const PROTOCOLS = ['connect', 'connect-json', 'grpc-web', 'grpc'] as const

export function transportOf(server: RpcServer, protocol: (typeof PROTOCOLS)[number]) {
  if (protocol === 'grpc') return createGrpcTransport({ baseUrl: server.grpcUrl })
  const options = { baseUrl: server.baseUrl, httpVersion: '1.1' as const }
  if (protocol === 'grpc-web') return createGrpcWebTransport(options)
  return createConnectTransport({ ...options, useBinaryFormat: protocol === 'connect' })
}
