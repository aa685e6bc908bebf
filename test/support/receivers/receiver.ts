import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type SecureServerOptions } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.ts'
import { Inbox } from './inbox.ts'

export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  httpVersion: string
  /** Counted from 0 in the order they were made. */
  connection: number
  /** Resolves when the sender's side of it is gone. */
  closed: Promise<void>
}

export interface ScriptedAnswer {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** An answer, nothing (the request stays open), or a function that answers by itself. */
export type Script =
  | ScriptedAnswer
  | null
  | ((request: ReceivedRequest, response: ServerResponse) => ScriptedAnswer | null | undefined)

export interface ReceiverOptions {
  /** What is answered unless `script` says otherwise; 200 and no body by default. */
  answer?: Script
  /** Speaks TLS with this certificate. */
  tls?: Certificate & Pick<SecureServerOptions, 'minVersion' | 'maxVersion' | 'ciphers'>
  /** Offers HTTP/2 as well; needs `tls`. */
  http2?: boolean
  maxConcurrentStreams?: number
  host?: string
  port?: number
}

export interface Receiver extends AsyncDisposable {
  url: string
  port: number
  /** What arrived, whole requests only. */
  requests: Inbox<ReceivedRequest>
  /** Sockets as they are made. */
  connections: Inbox<Socket>
  /** The same after their TLS handshake. */
  secured: Inbox<TLSSocket>
  /** Sockets that are open now. */
  open: ReadonlySet<Socket>
  /** The next answers, in order; after them `answer` holds again. */
  script(...answers: Script[]): void
  stop(): Promise<void>
}

/** However it ends. */
export function socketClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** A real receiver of callbacks on this machine. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { answer = {}, tls, http2 = false, host = '127.0.0.1' } = options
  const requests = new Inbox<ReceivedRequest>()
  const connections = new Inbox<Socket>()
  const secured = new Inbox<TLSSocket>()
  const open = new Set<Socket>()
  const numbers = new Map<number | undefined, number>()
  const scripted: Script[] = []

  const server = createListener(options)
  server.on('connection', (socket: Socket) => {
    numbers.set(socket.remotePort, connections.all.length)
    connections.add(socket)
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  server.on('secureConnection', (socket: TLSSocket) => secured.add(socket))
  server.on('tlsClientError', () => {})
  server.on('sessionError', () => {})
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    incoming.on('error', () => {})
    response.on('error', () => {})
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        method: incoming.method as string,
        path: incoming.url as string,
        headers: incoming.headers,
        body: Buffer.concat(chunks),
        httpVersion: incoming.httpVersion,
        connection: numbers.get(incoming.socket.remotePort) ?? -1,
        closed,
      }
      const script = scripted.length > 0 ? (scripted.shift() as Script) : answer
      const given = typeof script === 'function' ? script(request, response) : script
      if (given) send(response, given)
      requests.add(request)
    })
  })
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests,
    connections,
    secured,
    open,
    script: (...answers) => scripted.push(...answers),
    stop,
    [Symbol.asyncDispose]: stop,
  }

  function createListener({ maxConcurrentStreams }: ReceiverOptions): Server {
    if (tls === undefined) return createServer()
    if (!http2) return createTlsServer(tls)
    const settings = maxConcurrentStreams === undefined ? undefined : { maxConcurrentStreams }
    return createSecureServer({ ...tls, allowHTTP1: true, settings })
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: ScriptedAnswer): void {
  response.writeHead(status, headers)
  response.end(body)
}
