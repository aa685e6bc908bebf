import { STATUS_CODES } from 'node:http'
import type { Clock } from '../clock/clock.ts'
import { SWITCHING_PROTOCOLS } from './answer-head.ts'
import type { AnswerHeaders, Carried } from './carrier.ts'
import type { Connection } from './connection.ts'
import { NotBegun } from './not-begun.ts'
import type { Answer, Exchanged, ReadyRequest } from './outbound-request.ts'
import { plainError } from './tls-error.ts'

/** What exchanges know of the client that carries them out. */
export interface ExchangeContext {
  clock: Clock
  /** Answers that go on after their exchange has succeeded. */
  draining: number
  /** Set when the client ends: what it breaks off is no outcome. */
  closedBy: Error | null
}

/** Has the connections that exchanges are carried over. */
export interface ExchangeOwner {
  /** Over another connection: the one it was given gets no more. */
  sendAgain(exchange: Exchange, unused: Connection): void
  /** Gives up an exchange that has not ended, wherever it stands. */
  withdraw(exchange: Exchange): void
  /** The exchange has left; a connection on which one failed gets no other, whoever is to blame. */
  release(connection: Connection, isBroken: boolean): void
}

/** Called once. */
export interface Settle {
  resolve(exchanged: Exchanged): void
  reject(reason: unknown): void
}

const BEGINNING_BYTES = 1024
/** Where a success is enough its body is waited for a little, for whoever keeps a log. */
const BODY_GRACE_MS = 250
/** A body may come byte by byte, and each piece costs a hundred times what is in it. */
const MOST_PIECES = 64
/** Receivers may end their answer in peace, unless so many of them take their time. */
const MAX_DRAINING = 256
const NO_BYTES = new Uint8Array()

/** One request and its answer. It settles once; it leaves its connection once, which may be later. */
export class Exchange implements Carried {
  request: ReadyRequest
  connection: Connection | null = null
  readonly #context: ExchangeContext
  readonly #owner: ExchangeOwner
  readonly #settle: Settle
  readonly #startedAtMs: number
  #cancelTimer: () => void
  #status = 0
  #statusText = ''
  #headers: AnswerHeaders = {}
  #chunks: Buffer[] = []
  #bodyBytes = 0
  #isSettled = false
  #isDraining = false
  #hasLeft = false
  #wasRefused = false

  constructor(request: ReadyRequest, owner: ExchangeOwner, context: ExchangeContext, settle: Settle) {
    this.request = request
    this.#owner = owner
    this.#context = context
    this.#settle = settle
    this.#startedAtMs = context.clock.elapsedMs() - request.waitedMs
    this.#cancelTimer = context.clock.after(request.timeoutMs - request.waitedMs, () => this.#onTime())
  }

  /** It has no connection and gets none. */
  fail(error: Error): void {
    this.#settleError(error)
    this.#cancelTimer()
  }

  /** Nobody wants it any more. */
  abort(reason: unknown): void {
    if (this.#isEnough) this.#settleAnswer()
    else if (this.#close()) this.#settle.reject(reason)
    this.#giveUp()
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /**
   * The timer may not have rung yet: in a process that was stopped for a while, sockets have their turn before timers. Somebody else
   * may have made the attempt meanwhile.
   */
  get isLate(): boolean {
    return this.#leftMs() <= 0
  }

  onRefused(error: Error): void {
    const isSecond = this.#wasRefused
    this.#wasRefused = true
    if (isSecond) this.onResponseError(null, error)
    else this.onUnsent()
  }

  onUnsent(): void {
    if (this.#hasLeft || this.connection === null) return
    this.#owner.sendAgain(this, this.connection)
  }

  /** This process stood still, or had too much to do. The receiver has no part in that, and has seen nothing. */
  onLate(): void {
    this.#settleError(new NotBegun(new Error(`its ${this.#allowed} were over before it could be sent`)))
    this.#giveUp()
  }

  onResponseStart(_controller: unknown, status: number, headers: AnswerHeaders, statusText?: string): void {
    // Interim answers, of which a switch of protocols is none: nothing follows it.
    if ((status < 200 && status !== SWITCHING_PROTOCOLS) || this.#hasLeft) return
    this.#status = status
    // HTTP/2 sends no words.
    this.#statusText = statusText || (STATUS_CODES[status] ?? '')
    this.#headers = headers
    // Mostly the body came along, and there is nothing to wait for.
    if (this.#isEnough) queueMicrotask(() => this.#waitForBody())
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#hasLeft) return
    this.#bodyBytes += chunk.length
    const { maxBodyBytes } = this.request
    if (this.#bodyBytes > maxBodyBytes) {
      this.#settleAnswer(`the answer is larger than ${Math.floor(maxBodyBytes / 1024)} KiB`)
      this.#giveUp()
    } else if (!this.#isEnough || this.#bodyBytes - chunk.length < BEGINNING_BYTES) {
      if (this.#chunks.push(chunk) >= MOST_PIECES) this.#chunks = [Buffer.concat(this.#chunks)]
    }
  }

  onResponseEnd(): void {
    if (this.#hasLeft) return
    this.#settleAnswer()
    this.leave(false)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#hasLeft) return
    if (this.#isEnough || this.#hasBegun) {
      this.#settleAnswer(plainError(error).message || 'the answer broke off')
    } else {
      this.#settleError(error)
    }
    this.leave(true)
  }

  /** Nothing is sent or read for it any more. */
  leave(isBroken: boolean): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#cancelTimer()
    if (this.#isDraining) this.#context.draining--
    if (this.connection !== null) this.#owner.release(this.connection, isBroken)
  }

  get #isEnough(): boolean {
    return this.request.isSuccessEnough && this.#status >= 200 && this.#status <= 299
  }

  /** The receiver has said what it thinks, though perhaps not all of it. */
  get #hasBegun(): boolean {
    return this.#status !== 0 && this.#context.closedBy === null
  }

  #leftMs(): number {
    return this.request.timeoutMs - (this.#context.clock.elapsedMs() - this.#startedAtMs)
  }

  #waitForBody(): void {
    if (!this.#isSettled) this.#rearm(Math.min(BODY_GRACE_MS, this.#leftMs()))
  }

  #rearm(ms: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#context.clock.after(ms, () => this.#onTime())
  }

  #onTime(): void {
    if (!this.#isEnough) {
      // A process that stood still has not read yet what has come meanwhile: a connection, or the answer.
      setImmediate(() => this.#onTimeOver())
      return
    }
    if (!this.#isSettled) {
      this.#settleAnswer()
      const leftMs = this.#leftMs()
      if (leftMs > 0 && this.#context.draining < MAX_DRAINING) {
        this.#context.draining++
        this.#isDraining = true
        // Nobody sends it again, and the receiver may take its time.
        this.request = { ...this.request, bytes: NO_BYTES, headBytes: 0 }
        this.#rearm(leftMs)
        return
      }
    }
    this.#giveUp()
  }

  #onTimeOver(): void {
    if (this.#isSettled || this.#isEnough) return
    this.#settleLate(`the attempt took longer than ${this.#allowed}`)
    this.#giveUp()
  }

  get #allowed(): string {
    return `${Math.round(this.request.timeoutMs)} ms`
  }

  #giveUp(): void {
    this.#cancelTimer()
    if (!this.#hasLeft) this.#owner.withdraw(this)
  }

  #settleLate(problem: string): void {
    if (this.#hasBegun) this.#settleAnswer(problem, true)
    else this.#settleError(Object.assign(new Error(problem), { name: 'TimeoutError' }))
  }

  #settleError(error: Error): void {
    if (!this.#close()) return
    const { closedBy } = this.#context
    if (closedBy !== null) this.#settle.reject(closedBy)
    else this.#settle.resolve({ error: plainError(error), address: this.#address })
  }

  #settleAnswer(bodyProblem?: string, isLate = false): void {
    if (!this.#close()) return
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    this.#chunks = []
    const answer: Answer = {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.#headers,
      body,
      ...(bodyProblem !== undefined && { bodyProblem }),
      ...(isLate && { isLate }),
    }
    this.#settle.resolve({ answer, address: this.#address })
  }

  get #address(): string | null {
    return this.connection?.address ?? null
  }

  /** Whether this is the first time. */
  #close(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    return true
  }
}
