import type { EventEmitter } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../errors/app-error.ts'
import { JSON_TYPE } from '../answer/send-hook.ts'
import { errorAnswer } from '../failure/error-shapes.ts'
import type { HttpSettings, Shortcut } from '../platform.ts'
import { routedPath, surfaceOf } from '../surface.ts'
import type { AccessLog } from './access-log.ts'
import { refuseTunnel } from './client-error.ts'
import { CORS_HEADERS, isSharedAcrossOrigins, PLAIN_HEADERS } from './header-blocks.ts'
import { PipelinedRequests } from './pipelined-requests.ts'
import { requestIdFor } from './request-id.ts'
import { HttpRequest, HttpResponse, type RouteLabel } from './response.ts'
import { responseOn } from './response-on.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Node's server with our limits, our request and response, and what has to be judged before routing. */
export function createNodeServer(
  settings: HttpSettings,
  accessLog: AccessLog,
  { noRoute, shortcuts }: { noRoute: RouteLabel; shortcuts: ReadonlyMap<string, Shortcut> },
  handle: Handler,
): Server {
  // The head must hold other things than the address.
  const maxUrlLength = Math.floor(settings.header_limit * 0.75)

  const pipelined = new PipelinedRequests()

  const isFollowed = (socket: Socket) => pipelined.isFollowed(socket)

  function onRequest(request: HttpRequest, response: HttpResponse<HttpRequest>): void {
    pipelined.inTurn(request, response, () => {
      // An answer may end its connection then: what came in the same piece is to be known before.
      if (accessLog.isClosing()) setImmediate(answer, request, response)
      else answer(request, response)
    })
  }

  function answer(request: HttpRequest, response: HttpResponse<HttpRequest>): void {
    const requestId = requestIdFor(request.headers['x-request-id'])
    request.requestId = requestId
    const refusal = isUsual(request, maxUrlLength) ? null : refusalOf(request, maxUrlLength)
    const url = request.url as string
    response.begin(requestId, accessLog, isSharedAcrossOrigins(routedPath(url)) ? CORS_HEADERS : PLAIN_HEADERS)
    response.unreadMs = settings.unread_timeout
    response.isFollowed = isFollowed
    const shortcut = shortcuts.get(url)
    if (refusal !== null) answerEarly(refusal, response, noRoute)
    else if (shortcut === undefined || !isReading(request) || !shortcut(request, response)) handle(request, response)
  }

  const server = createServer<typeof HttpRequest, typeof HttpResponse<HttpRequest>>(
    {
      IncomingMessage: HttpRequest,
      ServerResponse: HttpResponse,
      maxHeaderSize: settings.header_limit,
      requestTimeout: settings.request_timeout,
      headersTimeout: settings.request_timeout,
      keepAliveTimeout: settings.keep_alive_timeout,
      connectionsCheckingInterval: checkingInterval(settings.request_timeout),
      // Node would answer by itself, without a body.
      requireHostHeader: false,
      noDelay: true,
    },
    onRequest,
  )
  server.timeout = settings.idle_timeout
  server.on('timeout', (socket: Socket) => {
    const response = responseOn(socket)
    if (response !== null && isAwaited(response, socket)) return
    // It knows how to break off.
    response?.destroy()
    socket.destroy()
  })
  if (settings.max_connections > 0) server.maxConnections = settings.max_connections
  // Beyond the count Node drops headers in silence; the size of the head bounds them already.
  server.maxHeadersCount = 0
  server.on('checkExpectation', onRequest)
  server.on('connect', refuseTunnel)
  answerHalfClosed(server)
  return server as unknown as Server
}

const SLASH = 0x2f

function isUsual(request: HttpRequest, maxUrlLength: number): boolean {
  const url = request.url as string
  return (
    url.charCodeAt(0) === SLASH && url.length <= maxUrlLength && countHosts(request) === 1 && !hasUnknownCoding(request)
  )
}

/**
 * Nothing moves while a long poll waits, and the caller who sent all of it can do nothing about that: its end is for the
 * operation to decide. A caller who has ended its side, or does not read its answer, waits for nothing.
 */
function isAwaited({ req, headersSent }: ServerResponse, { readableEnded }: Socket): boolean {
  return req.complete && !headersSent && !readableEnded
}

// Nobody can tell a caller who only has nothing more to say from one who has gone; most answers take less than this.
const AFTER_END_MS = 2_000

/** Node would end the connection as soon as the caller ends its side, and with it every answer that is not ready by then. */
function answerHalfClosed(server: EventEmitter): void {
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => socket.once('end', () => socket.setTimeout(AFTER_END_MS)))
}

function isReading({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Of two lines Node hands on the first, while a proxy before us may have gone by the second. */
function countHosts({ rawHeaders }: HttpRequest): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/**
 * The parser takes chunks apart and passes over what is named before them, so that a body would be taken for what it is not.
 * One that does not end in chunks it refuses by itself.
 */
function hasUnknownCoding({ headers }: HttpRequest): boolean {
  const codings = headers['transfer-encoding']
  if (codings === undefined || codings === 'chunked') return false
  const names = codings.split(',').flatMap((coding) => coding.trim().toLowerCase() || [])
  return names.at(-1) === 'chunked' && names.some((name) => name !== 'chunked')
}

/** Looks at what is unusual about a request; may bring its address into the usual form. */
function refusalOf(request: HttpRequest, maxUrlLength: number): AppError | null {
  const url = request.url as string
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    return new AppError('invalid_argument', 'The Host header is missing')
  }
  if (countHosts(request) > 1) return new AppError('invalid_argument', 'The Host header is given more than once')
  if (url.length > maxUrlLength) return new AppError('uri_too_long', 'The request address is too long')
  if (hasUnknownCoding(request)) {
    return new AppError('unimplemented', 'Of the transfer codings only chunked is known here')
  }
  if (url.charCodeAt(0) === SLASH) return null
  // The absolute form is for proxies, yet every server must understand it; `*` asks about the server as a whole.
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url)
  if (absolute !== null) {
    // The host of the address counts, whatever the header says.
    request.headers.host = absolute[1]
    request.url = absolute[2]?.startsWith('/') ? absolute[2] : `/${absolute[2]}`
  } else if (url === '*') request.url = '/'
  else return new AppError('invalid_argument', 'The request address is not valid')
  return null
}

function answerEarly(error: AppError, response: HttpResponse, label: RouteLabel): void {
  response.label = label
  const surface = surfaceOf(routedPath(response.req.url as string))
  const { status, headers, body } = errorAnswer(surface, error, response.requestId)
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

/** Node looks for slow requests from time to time; often enough that the limit means what it says. */
function checkingInterval(requestTimeoutMs: number): number {
  return Math.min(5_000, Math.max(50, requestTimeoutMs / 4))
}
