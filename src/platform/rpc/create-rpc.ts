/**
 * All RPC services of the server, ready to be served on two ports: Connect and gRPC-Web over HTTP/1.1 on the main one,
 * gRPC over HTTP/2 on its own. One implementation per method, one gate in front of all of them.
 */
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ConnectRouterOptions,
  createConnectRouter,
  type ServiceImpl,
} from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node'
import type { Denial } from '../audit/denials.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { type Clock, MICROS_PER_MS } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import { failureFacts } from '../errors/failure-facts.ts'
import { type Logger, named } from '../logging/logger.ts'
import { BODY_MEMORY_BYTES } from '../memory/body-room.ts'
import { SharedMemory } from '../memory/shared-memory.ts'
import { type Call, outcomeName, type RpcPort } from './call.ts'
import { callGate } from './call-gate.ts'
import { correctStatus } from './correct-status.ts'
import { type HealthSource, healthService } from './health-service.ts'
import { reflectionServices } from './reflection-service.ts'
import { toConnectError } from './rpc-error.ts'
import type { RpcService } from './rpc-service.ts'
import { type HandlerRuntime, runHandler } from './run-handler.ts'
import { type ServerInfo, serverService } from './server-service.ts'

export interface RpcDeps {
  authenticator: Authenticator
  clock: Clock
  log: Logger
  readiness: HealthSource
  serverInfo: ServerInfo
  /** Scheme, host and port under which the main port is reached. */
  serverOrigin(): string
  /** Of the features, each made by rpcService(). */
  services?: readonly RpcService[]
  limits?: Partial<RpcLimits>
  /** For large messages, by the caller's address; of its own unless given. */
  bodyMemory?: SharedMemory<string>
  /** Told about callers with good credentials who lack the permission. Must not throw. */
  onDenied?(denial: Denial): void
  /** Once per call. `method` is `package.Service/Method`, `code` is `ok` or a status such as `not_found`. */
  observe?(method: string, code: string, seconds: number): void
}

export interface RpcLimits {
  /** The largest request and response message, after decompression. */
  messageBytes: number
  /** The largest request message where that is less. */
  requestBytes: number
  /** How long a single request message may take to arrive; 0 for no limit. */
  requestTimeoutMs: number
}

export interface Rpc {
  /** Full names, sorted. */
  readonly serviceNames: readonly string[]
  readonly limits: RpcLimits
  readonly bodyMemory: SharedMemory<string>
  readonly clock: Clock
  readonly log: Logger
  handlers(port: RpcPort): readonly UniversalHandler[]
  /** The server begins to stop: watching and waiting ends, calls in flight go on. */
  drain(): void
  /** Ends every call in flight with UNAVAILABLE. */
  abort(): void
}

const MESSAGE_BYTES = 4 * 1024 * 1024
const DEFAULT_LIMITS: RpcLimits = {
  messageBytes: MESSAGE_BYTES,
  requestBytes: MESSAGE_BYTES,
  requestTimeoutMs: 30_000,
}

// Below it, compressing costs more than it saves.
const COMPRESS_MIN_BYTES = 1_024

export function createRpc(deps: RpcDeps): Rpc {
  const log = named(deps.log, 'rpc')
  const given = { ...DEFAULT_LIMITS, ...deps.limits }
  const limits = { ...given, requestBytes: Math.min(given.requestBytes, given.messageBytes) }
  const closing = new AbortController()
  const aborting = new AbortController()
  const runtime: HandlerRuntime = { closing: closing.signal, elapsedMs: () => deps.clock.elapsedMs(), toStatus }

  const services = withPlatformServices(deps)
  const declared = new Map<DescMethod, RpcService>()
  for (const service of services) {
    for (const method of service.desc.methods) declared.set(method, service)
  }

  const gate = callGate({
    ...runtime,
    authenticator: deps.authenticator,
    serverOrigin: deps.serverOrigin,
    onDenied: deps.onDenied,
    accessOf: (method) => mustGet(mustGet(declared, method).methods, method.localName).access,
    onEnd,
  })

  function toStatus(error: unknown, call: Call): ConnectError {
    if (error instanceof ConnectError) {
      // A handler that reads a stream meets what is wrong with its messages.
      correctStatus(error, (defect) => toStatus(defect, call))
      return error
    }
    const status = toConnectError(error, call.peer.requestId, deps.clock.now() / MICROS_PER_MS)
    const isDefect = !(error instanceof AppError) || status.code === Code.Internal
    if (isDefect) log.error({ err: error, request: call.peer.requestId, method: call.method }, 'call failed')
    else if (error instanceof AppError && error.cause !== undefined) {
      log.warn({ ...failureFacts(error), request: call.peer.requestId, method: call.method }, error.message)
    }
    return status
  }

  function onEnd(call: Call, error: ConnectError | undefined): void {
    const code = outcomeName(error?.code)
    const ms = deps.clock.elapsedMs() - call.startedMs
    deps.observe?.(call.method, code, ms / 1_000)
    // The main port has an access log of its own; what it cannot see is how a call ended.
    const isKnown = call.peer.port === 'main' && error === undefined
    log[quiet.has(call.method) || isKnown ? 'debug' : 'info'](
      {
        method: call.method,
        code,
        ms: Math.round(ms * 10) / 10,
        request: call.peer.requestId,
        principal: call.principal?.userId ?? call.principal?.kind,
      },
      'call',
    )
  }

  const quiet = new Set(
    services.flatMap(({ desc, options }) =>
      options.isQuiet ? desc.methods.map(({ name }) => `${desc.typeName}/${name}`) : [],
    ),
  )

  function handlers(port: RpcPort): UniversalHandler[] {
    const protocols = { grpc: port === 'grpc', grpcWeb: port === 'main', connect: port === 'main' }
    const router = createConnectRouter({
      ...protocols,
      acceptCompression: [compressionGzip, compressionBrotli],
      compressMinBytes: COMPRESS_MIN_BYTES,
      readMaxBytes: limits.requestBytes,
      writeMaxBytes: limits.messageBytes,
      // A member that is left out unseen is lost: `{"success": {"paid": true}}` would start a callback with nothing in it.
      jsonOptions: { ignoreUnknownFields: false },
      shutdownSignal: aborting.signal,
      requestGate: gate,
    })
    for (const service of services) route(router, service, runtime, { ...protocols, readMaxBytes: limits.requestBytes })
    return router.handlers
  }

  return {
    serviceNames: services.map(({ desc }) => desc.typeName).sort(),
    limits,
    bodyMemory: deps.bodyMemory ?? new SharedMemory(BODY_MEMORY_BYTES),
    clock: deps.clock,
    log,
    handlers,
    drain: () => closing.abort(),
    abort() {
      closing.abort()
      aborting.abort(new ConnectError('The server is shutting down.', Code.Unavailable))
    },
  }
}

function withPlatformServices(deps: RpcDeps): RpcService[] {
  const served: DescService[] = []
  const ofFeatures = deps.services ?? []
  const services = [
    ...ofFeatures,
    serverService(deps.serverInfo, served),
    healthService(deps.readiness, served),
    ...reflectionServices(
      served,
      ofFeatures.flatMap(({ options }) => options.alsoReflect ?? []),
    ),
  ]
  for (const { desc } of services) {
    if (served.some(({ typeName }) => typeName === desc.typeName))
      throw new Error(`${desc.typeName} is registered twice`)
    // The services above read this list when they are called, long after it is complete.
    served.push(desc)
  }
  return services
}

function route(
  router: ConnectRouter,
  service: RpcService,
  runtime: HandlerRuntime,
  options: Pick<ConnectRouterOptions, 'grpc' | 'grpcWeb' | 'connect'> & { readMaxBytes: number },
): void {
  const implementation = Object.fromEntries(
    service.desc.methods.map((method) => [
      method.localName,
      runHandler(method, mustGet(service.methods, method.localName), runtime),
    ]),
  )
  const { readMaxBytes } = service.options
  router.service(
    service.desc,
    implementation as unknown as Partial<ServiceImpl<DescService>>,
    // Options of a service bring all protocols back that the router was told not to speak.
    readMaxBytes === undefined ? undefined : { ...options, readMaxBytes: Math.min(readMaxBytes, options.readMaxBytes) },
  )
}

function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key)
  if (value === undefined) throw new Error('a method was routed that no service declared')
  return value
}
