import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PLAIN_HEADERS } from './header-blocks.ts'

/** What log and metrics call a route: its pattern, never the path that was asked for. */
export interface RouteLabel {
  readonly operation: string
  readonly pattern: string
  observe(status: number, milliseconds: number): void
}

/** Told about each request once, when its response ends. */
export interface RequestRecorder {
  now(): number
  record(response: HttpResponse, status: number, startedMs: number): void
  /** Whether connections should end with the last response on them. */
  isClosing(): boolean
}

/** Whether the connection, which is to end, ends behind a later answer. Asked once for each. */
type IsFollowed = (socket: Socket) => boolean

// Smaller answers fit into what is kept of every connection anyway.
const LARGE_BYTES = 1024 * 1024

export class HttpRequest extends IncomingMessage {
  requestId = ''
}

/**
 * The response of every request, whoever writes it: a route, an error handler, an RPC adapter or a stream that took
 * over the connection. It carries the headers that all responses share and reports itself when it ends, so that none
 * of the writers can forget either.
 */
export class HttpResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  requestId = ''
  headerBlock = PLAIN_HEADERS
  label: RouteLabel | null = null
  principalId: string | null = null
  recorder: RequestRecorder | null = null
  /** How long a caller may take nothing of a large answer, in milliseconds; 0 for ever. */
  unreadMs = 0
  isFollowed: IsFollowed = () => false
  #startedMs = 0
  #isRecorded = false

  begin(requestId: string, recorder: RequestRecorder, headerBlock: string): void {
    this.requestId = requestId
    this.recorder = recorder
    this.headerBlock = headerBlock
    this.#startedMs = recorder.now()
  }

  /** Since the request began. */
  get elapsedMs(): number {
    return this.recorder === null ? 0 : this.recorder.now() - this.#startedMs
  }

  // NOTE Not part of Node's public interface, yet the same since Node 0.x: it turns the status line and the headers
  // into text. test/api/platform/headers.test.ts fails when a later Node no longer calls it.
  _storeHeader(statusLine: string, headers: unknown): void {
    if (this.recorder?.isClosing() && !this.isFollowed(this.req.socket)) this.shouldKeepAlive = false
    const shared = `${statusLine}${this.headerBlock}x-request-id: ${this.requestId}\r\n`
    // @ts-expect-error see above
    super._storeHeader(shared, headers)
  }

  /** While the server stops, the framework ends each connection with the next answer, also where more requests have arrived there. */
  override setHeader(name: string, value: number | string | readonly string[]): this {
    return name === 'Connection' && this.recorder?.isClosing() ? this : super.setHeader(name, value)
  }

  // biome-ignore lint/suspicious/noExplicitAny: four overloads, all handed on as they came
  override end(chunk?: any, encoding?: any, callback?: any): this {
    super.end(chunk, encoding, callback)
    this.#report(this.destroyed ? 499 : this.statusCode)
    if (this.unreadMs > 0 && this.writableLength > LARGE_BYTES) this.#cutOffUnread()
    return this
  }

  /** Node looks itself whether anything went out meanwhile. An answer that waits for one before it has no socket yet. */
  #cutOffUnread(): void {
    if (this.socket === null) this.once('socket', () => this.#cutOffUnread())
    else {
      const { socket, unreadMs } = this
      const before = socket.timeout ?? 0
      if (before > 0 && before <= unreadMs) return
      socket.setTimeout(unreadMs)
      // The next request may take its time again, unless Node has set another one for the pause before it.
      this.once('finish', () => {
        if (socket.timeout === unreadMs) socket.setTimeout(before)
      })
    }
  }

  override destroy(error?: Error): this {
    if (this.#endsWithConnection() && !this.writableFinished) this.socket?.resetAndDestroy()
    super.destroy(error)
    this.#report(499)
    return this
  }

  /**
   * Neither a length nor chunks tell where such an answer ends, as for the HTTP/1.0 that proxies speak: of one that breaks off they would take
   * what they have for the whole. A reset says that it is not.
   */
  #endsWithConnection(): boolean {
    return this.headersSent && !this.chunkedEncoding && !this.hasHeader('content-length')
  }

  #report(status: number): void {
    if (this.#isRecorded || this.recorder === null) return
    this.#isRecorded = true
    this.recorder.record(this, status, this.#startedMs)
  }
}
