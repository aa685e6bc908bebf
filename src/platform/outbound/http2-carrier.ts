// By Node's own client: undici's ends the process by a failed assertion when a receiver refuses streams while a
// connection is being given up. Here nothing is ever done to a single stream: Node loops without end over one that
// is destroyed before its body was sent, and a receiver has only to stop reading to bring that about.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { AnswerHeaders, Carried, Carrier } from './carrier.ts'
import { requestParts } from './request-bytes.ts'

export interface Http2CarrierOptions {
  origin: URL
  socket: Socket
  keepAliveMs: number
  /** Called when the receiver has said how much it takes. */
  onReady: () => void
  onClosed: () => void
}

const MAX_STREAMS = 100
// As many headers as an answer over HTTP/1.1 may have, and its status, which is one here.
const MAX_HEADER_PAIRS = 256 + 1
// Node counts bodies that wait to be sent as memory of the session, and while they are more than 10 MB, a handful of large ones, it
// resets whatever is answered. How much is under way at a time is for others to say.
const MAX_SESSION_MEGABYTES = 4_096
const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** Many requests at a time. */
export class Http2Carrier implements Carrier {
  readonly protocol = 'h2'
  /** As the receiver has it when it first says so; should it take less later on, the rest waits inside Node. */
  limit = 1
  readonly #authority: string
  readonly #keepAliveMs: number
  readonly #socket: Socket
  readonly #session: ClientHttp2Session
  readonly #onClosed: () => void
  #streams = 0
  /** Of those behind it the receiver has said, with its good-bye, that it has not looked at them. */
  #lastSeenId = Number.POSITIVE_INFINITY

  constructor({ origin, socket, keepAliveMs, onReady, onClosed }: Http2CarrierOptions) {
    this.#authority = origin.host
    this.#keepAliveMs = keepAliveMs
    this.#socket = socket
    this.#onClosed = onClosed
    this.#session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false },
      maxHeaderListPairs: MAX_HEADER_PAIRS,
      maxSessionMemory: MAX_SESSION_MEGABYTES,
    })
    this.#session.once('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => {
      this.limit = Math.min(Math.max(maxConcurrentStreams, 1), MAX_STREAMS)
      onReady()
    })
    this.#session.on('error', () => {}) // its streams tell
    this.#session.on('goaway', (_code, lastStreamId) => {
      this.#lastSeenId = lastStreamId
      onClosed()
    })
    this.#session.on('close', onClosed)
    socket.once('close', onClosed)
    this.#session.on('timeout', () => {
      if (this.#streams === 0) onClosed()
    })
  }

  send(carried: Carried): void {
    if (carried.isLate) {
      carried.onLate()
      return
    }
    const parts = requestParts(carried.request)
    const { body } = parts
    const isEmpty = body.byteLength === 0
    let stream: ClientHttp2Stream
    try {
      stream = this.#session.request(this.#headersOf(parts), { endStream: isEmpty })
    } catch (error) {
      if (this.#session.closed) carried.onRefused(error as Error)
      else carried.onResponseError(null, error as Error)
      return
    }
    if (this.#streams++ === 0) this.#session.ref()
    stream.once('close', () => {
      if (--this.#streams > 0) return
      this.#session.unref()
      this.#session.setTimeout(this.#keepAliveMs)
    })
    follow(stream, carried, { onEarly: this.#onClosed, lastSeenId: () => this.#lastSeenId })
    if (!isEmpty) stream.end(body)
  }

  destroy(_reason: Error, done: () => void): void {
    if (this.#socket.closed) done()
    else this.#socket.once('close', done).destroy()
  }

  #headersOf({ method, path, headers, body }: ReturnType<typeof requestParts>): Record<string, string> {
    const pairs: Record<string, string> = {
      __proto__: null as never, // a header may be called so, and is one like others then
      ':method': method,
      ':scheme': 'https',
      ':authority': this.#authority,
      ':path': path,
      ...(method === 'POST' && { 'content-length': String(body.byteLength) }),
    }
    for (const [name, value] of headers) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
      pairs[name.toLowerCase()] = value
    }
    return pairs
  }
}

interface FollowOptions {
  /** Called when the answer ends before the body was sent. */
  onEarly(): void
  lastSeenId(): number
}

function follow(stream: ClientHttp2Stream, carried: Carried, { onEarly, lastSeenId }: FollowOptions): void {
  let isOver = false
  let hasAnswer = false
  let failure: Error | undefined
  stream.on('response', (headers) => {
    hasAnswer = true
    carried.onResponseStart(null, Number(headers[':status']), headers as AnswerHeaders)
  })
  stream.on('data', (chunk: Buffer) => {
    if (carried.hasLeft) stream.pause()
    else carried.onResponseData(null, chunk)
  })
  stream.on('end', () => {
    if (isOver || !hasAnswer || stream.aborted || stream.rstCode !== NGHTTP2_NO_ERROR) return
    isOver = true
    // Not every such stream is closed by Node: it would keep its body for as long as the connection stands.
    if (!stream.writableFinished) onEarly()
    carried.onResponseEnd()
  })
  stream.on('error', (error) => {
    failure = error
  })
  stream.on('close', () => {
    if (isOver) return
    isOver = true
    const error = failure ?? new Error('the stream was closed before the answer was complete')
    const isUnseen = stream.rstCode === NGHTTP2_REFUSED_STREAM || stream.id === undefined || stream.id > lastSeenId()
    if (isUnseen && !hasAnswer) carried.onRefused(error)
    else carried.onResponseError(null, error)
  })
}
