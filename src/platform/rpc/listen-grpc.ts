/** gRPC on its own port: HTTP/2 without TLS, with bounds on everything a peer can make us keep. */
import { createServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net'
import { Code } from '@connectrpc/connect'
import { beginInTurns } from '../clock/begin-in-turns.ts'
import { type ForwardedAddress, forwardedAddress } from '../http/connection/forwarded-address.ts'
import { listenFailure } from '../http/connection/listen-failure.ts'
import { requestIdFor } from '../http/connection/request-id.ts'
import { answerCall, endWithText, letGoWhenAnswered, takesOneMessage } from './answer-call.ts'
import type { Peer } from './call.ts'
import { CallPlaces } from './call-places.ts'
import type { Rpc } from './create-rpc.ts'
import { keepSessionAlive, type SessionTimes } from './keep-session-alive.ts'
import { sniffHttp2 } from './sniff-http2.ts'

export interface GrpcListenOptions extends Partial<GrpcLimits> {
  host: string
  /** 0: any free port. */
  port: number
  /** Whose `X-Forwarded-For` is believed; addresses and ranges. */
  trustedProxies?: readonly string[]
}

export interface GrpcLimits extends SessionTimes {
  maxConnections: number
  /** Of one connection. */
  maxConcurrentStreams: number
  /** Of all connections. */
  maxCalls: number
  maxHeaderBytes: number
  /** How long a new connection may take to say that it speaks HTTP/2. */
  handshakeMs: number
}

export interface GrpcListener {
  readonly host: string
  readonly port: number
  /**
   * Refuses new connections, tells clients to go elsewhere, waits for calls in flight; after the grace cuts them off. True when nothing
   * had to be cut off.
   */
  close(graceMs: number): Promise<boolean>
}

const DEFAULTS: GrpcLimits = {
  maxConnections: 10_000,
  // More than clients keep open: at the limit Node refuses a call that comes in one packet with the end of another.
  maxConcurrentStreams: 1_000,
  maxCalls: 10_000,
  maxHeaderBytes: 16 * 1024,
  handshakeMs: 10_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  idleMs: 30 * 60_000,
}

// Who asks for much and reads nothing must not fill the memory with it.
const MOST_SESSION_MEGABYTES = 256
// A call that does nothing takes about half a millisecond.
const BEGIN_PER_TURN = 32

export async function listenGrpc(rpc: Rpc, options: GrpcListenOptions): Promise<GrpcListener> {
  const limits = { ...DEFAULTS, ...options }
  const clientAddressOf = forwardedAddress(options.trustedProxies ?? [])
  const handlers = new Map(rpc.handlers('grpc').map((handler) => [handler.requestPath, handler]))
  const sessions = new Set<ServerHttp2Session>()
  // Connections that have not said yet that they speak HTTP/2, or that were told to go elsewhere.
  const strangers = new Set<Socket>()

  const http2 = createServer({
    settings: {
      maxConcurrentStreams: limits.maxConcurrentStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
      initialWindowSize: 256 * 1024,
      enableConnectProtocol: false,
    },
    maxSessionMemory: sessionMegabytes(limits.maxConcurrentStreams, rpc.limits.messageBytes),
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // A client that opens and cancels calls without pause makes work at no cost to itself. One that gives up all it has is none.
    streamResetBurst: limits.maxConcurrentStreams + 200,
    streamResetRate: 100,
  })
  http2.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', (error) => rpc.log.debug({ err: error }, 'gRPC connection failed'))
    keepSessionAlive(session, rpc.clock, limits)
  })
  const beginInTurn = beginInTurns(BEGIN_PER_TURN)
  const places = new CallPlaces(limits.maxCalls, rpc.clock)
  http2.on('request', (request, response) => {
    const { stream } = request
    // Opened and cancelled in one packet.
    if (stream.destroyed) return
    request.on('error', (error) => rpc.log.debug({ err: error }, 'gRPC stream failed'))
    if (!places.take(request)) {
      answerWith(rpc, request, response, Code.ResourceExhausted, 'This server has too many calls at once.')
      return
    }
    beginInTurn({
      isGone: () => stream.destroyed,
      begin() {
        const handler = handlers.get(pathOf(request))
        if (handler === undefined) return answerUnknown(rpc, request, response)
        if (takesOneMessage(handler)) places.awaitMessage(request)
        void answerCall(rpc, handler, request, response, peerOf(request, clientAddressOf))
      },
    })
  })

  const server = createNetServer((socket) => {
    strangers.add(socket.setNoDelay(true))
    socket.once('close', () => strangers.delete(socket))
    sniffHttp2(socket, rpc.clock, limits.handshakeMs, () => {
      strangers.delete(socket)
      http2.emit('connection', socket)
    })
  })
  server.maxConnections = limits.maxConnections
  const { address, port } = await listen(server, options)

  async function close(graceMs: number): Promise<boolean> {
    let isFinished = true
    rpc.drain()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of strangers) socket.destroy()
    for (const session of sessions) session.close()
    const cutOff = () => {
      isFinished = sessions.size === 0
      rpc.abort()
      for (const session of sessions) session.destroy()
    }
    const cancel = graceMs > 0 ? rpc.clock.after(graceMs, cutOff) : cutOff()
    await closed
    cancel?.()
    return isFinished
  }

  return { host: address, port, close }
}

/** Enough for many calls to be answered at once: Node resets calls when answers that wait to be read take more than this. */
function sessionMegabytes(calls: number, messageBytes: number): number {
  return Math.min(MOST_SESSION_MEGABYTES, 32 + Math.ceil((calls * messageBytes) / 1_000_000))
}

function listen(server: Server, { host, port }: GrpcListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const place = { host, port, what: 'The gRPC port', setting: 'server.grpc_port', variable: 'COMMONPLACE_GRPC_PORT' }
    server.once('error', (error) => reject(listenFailure(error, place)))
    server.listen({ host, port, backlog: 511 }, () => {
      server.removeAllListeners('error')
      resolve(server.address() as AddressInfo)
    })
  })
}

function pathOf(request: Http2ServerRequest): string {
  return request.url.split('?', 1)[0] as string
}

function peerOf(request: Http2ServerRequest, clientAddressOf: ForwardedAddress): Peer {
  const remoteAddress = request.stream.session?.socket.remoteAddress ?? ''
  return {
    port: 'grpc',
    remoteAddress,
    clientAddress: clientAddressOf(remoteAddress, request.headers['x-forwarded-for']?.toString()),
    authority: request.authority ?? '',
    requestId: requestIdFor(request.headers['x-request-id']),
  }
}

function answerUnknown(rpc: Rpc, request: Http2ServerRequest, response: Http2ServerResponse): void {
  const isGrpc = request.headers['content-type']?.startsWith('application/grpc') === true
  if (isGrpc) {
    answerWith(rpc, request, response, Code.Unimplemented, 'This server has no such method.')
    return
  }
  letGoWhenAnswered(rpc, request, response)
  endWithText(response, 415, 'This port speaks gRPC only.')
}

function answerWith(
  rpc: Rpc,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  code: Code,
  message: string,
): void {
  letGoWhenAnswered(rpc, request, response)
  response.writeHead(200, { 'content-type': 'application/grpc' })
  // NOTE In trailers, although gRPC allows the status among the headers here: Node resets a stream that was answered
  // without trailers while its body still arrives, and clients take the reset for the answer.
  response.addTrailers({
    'grpc-status': String(code),
    'grpc-message': message,
  })
  response.end()
}
