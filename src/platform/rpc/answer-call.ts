/**
 * From a Node request to a Connect handler and back, for both ports. Ours rather than the adapters that come with
 * Connect: those answer a request whose Host cannot be read with an empty 200, write failures to the console, and let a
 * body trickle in without end.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { Code, ConnectError } from '@connectrpc/connect'
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node'
import { MICROS_PER_MS } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import { BodyRoom } from '../memory/body-room.ts'
import { boundMessages, queryProblem } from './bound-messages.ts'
import { type Peer, peerValues } from './call.ts'
import { clampDeadline } from './clamp-deadline.ts'
import { collectBody } from './collect-body.ts'
import type { Rpc } from './create-rpc.ts'
import { toConnectError } from './rpc-error.ts'

export type NodeRequest = IncomingMessage | Http2ServerRequest
export type NodeResponse = ServerResponse | Http2ServerResponse

// How long a caller whose body was not wanted may go on sending before the connection is cut.
const LINGER_MS = 2_000

const MAX_STATUS_MESSAGE_BYTES = 2_048
const MAX_STATUS_DETAILS_BYTES = 6_144
const PERCENT = 0x25
const DELETE = 0x7f

export async function answerCall(
  rpc: Rpc,
  handler: UniversalHandler,
  request: NodeRequest,
  response: NodeResponse,
  peer: Peer,
) {
  letGoWhenAnswered(rpc, request, response)
  const universal = universalOf(request, response, peer)
  if (universal === null) return endWithText(response, 400, 'The request could not be read: its Host is no name.')
  const room = new BodyRoom(rpc.bodyMemory, peer.clientAddress)
  response.once('close', () => room.leave())
  try {
    const problem = request.method === 'GET' ? await queryProblem(universal.url) : null
    if (problem === 'too large') {
      endWithText(response, 413, 'A message in the address must not be larger than 64 KiB when decompressed.')
      return
    }
    if (problem === 'not base64') return endWithInvalidArgument(response, 'The message in the address is not base64.')
    clampDeadline(universal.header)
    const refusal = (reason: string) =>
      toConnectError(new AppError('invalid_argument', reason), peer.requestId, rpc.clock.now() / MICROS_PER_MS)
    const bounds = { input: handler.method.input, header: universal.header, maxBytes: rpc.limits.requestBytes, refusal }
    const body = boundMessages(bodyOf(rpc, handler, request, room), bounds)
    const answer = await handler({ ...universal, body })
    await universalResponseToNodeResponse(withBoundedStatus(answer), response)
  } catch (error) {
    if (ConnectError.from(error).code === Code.Aborted) return
    rpc.log.warn({ err: error, request: peer.requestId }, 'call could not be answered')
    if (response.headersSent) response.destroy()
    else endWithText(response, 400, 'The request could not be read.')
  }
}

/** Null when the Host cannot be part of a URL. That is the caller's doing, and nothing an operator has to hear of. */
function universalOf(request: NodeRequest, response: NodeResponse, peer: Peer): UniversalServerRequest | null {
  try {
    // Its signal, URL and headers are used, its body is not: to leave that half-read destroys the request.
    return universalRequestFromNodeRequest(request, response, undefined, peerValues(peer))
  } catch {
    return null
  }
}

export function endWithText(response: NodeResponse, status: number, text: string): void {
  end(response, status, 'text/plain; charset=utf-8', `${text}\n`)
}

/** As Connect writes it: only Connect has messages in an address. */
function endWithInvalidArgument(response: NodeResponse, message: string): void {
  end(response, 400, 'application/json', JSON.stringify({ code: codeToString(Code.InvalidArgument), message }))
}

function end(response: NodeResponse, status: number, type: string, body: string): void {
  const headers = { 'content-type': type, 'x-content-type-options': 'nosniff' }
  // One call per type: the two classes agree in what they do, not in their signatures.
  if ('stream' in response) response.writeHead(status, headers).end(body)
  else response.writeHead(status, headers).end(body)
}

export function takesOneMessage({ method }: UniversalHandler): boolean {
  return method.methodKind === 'unary' || method.methodKind === 'server_streaming'
}

function bodyOf(rpc: Rpc, handler: UniversalHandler, request: NodeRequest, room: BodyRoom): AsyncIterable<Uint8Array> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  if (!takesOneMessage(handler)) return chunks
  const { clock, limits } = rpc
  // How large it is shows when all of it is there.
  const makeRoom = () => room.enter(limits.requestBytes)
  return collectBody(chunks, { clock, withinMs: limits.requestTimeoutMs, makeRoom })
}

/**
 * A call that was answered before its body was read must not keep a stream or a connection busy for ever. Not at once,
 * though: a reset would overtake the answer.
 */
export function letGoWhenAnswered(rpc: Rpc, request: NodeRequest, response: NodeResponse): void {
  const stream = request instanceof Http2ServerRequest ? request.stream : undefined
  // On HTTP/2 the response itself says `finish` only after the stream is closed, which is too late.
  const answer = stream ?? response
  answer.once('finish', () => {
    if (request.complete) return
    // Node does away by itself with a body that nobody has begun to read.
    if (request.readableDidRead) request.resume()
    const cancel = rpc.clock.after(LINGER_MS, () => {
      if (stream === undefined) request.destroy()
      else stream.close(constants.NGHTTP2_NO_ERROR)
    })
    request.once('close', cancel)
  })
}

/**
 * In gRPC the status is a trailer, and a trailer that is too long breaks the connection instead of telling the caller
 * anything. Our own errors are short; those of the decoder may quote what they could not read.
 */
function withBoundedStatus(response: UniversalServerResponse): UniversalServerResponse {
  const { trailer, body } = response
  if (trailer === undefined || body === null || body === undefined) return response
  return { ...response, body: boundAtEnd(body as AsyncIterable<Uint8Array>, trailer) }
}

/**
 * Percent-encoded as gRPC says. Connect encodes every sign, which is legal, but clients of Node (grpc-js) give a comma or a colon that is
 * encoded without need to the caller as `%2C` and `%3A`.
 */
function withPlainSigns(message: string): string {
  return message.replace(/%[2-7][0-9A-F]/g, (written) => {
    const code = Number.parseInt(written.slice(1), 16)
    return code === PERCENT || code === DELETE ? written : String.fromCharCode(code)
  })
}

/** Whole characters only: clients show what they cannot decode as it is, escapes and all. */
function beginningOf(message: string): string {
  if (message.length <= MAX_STATUS_MESSAGE_BYTES) return message
  return message
    .slice(0, MAX_STATUS_MESSAGE_BYTES)
    .replace(/%[^%]?$/, '')
    .replace(/(?:%[89A-F][0-9A-F])+$/, (escapes) => {
      const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
      return encodeURIComponent(new TextDecoder().decode(bytes, { stream: true }))
    })
}

async function* boundAtEnd(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array> {
  yield* body
  const message = withPlainSigns(trailer.get('grpc-message') ?? '')
  if (message !== '') trailer.set('grpc-message', beginningOf(message))
  const details = trailer.get('grpc-status-details-bin')
  if (details !== null && details.length > MAX_STATUS_DETAILS_BYTES) trailer.delete('grpc-status-details-bin')
}
