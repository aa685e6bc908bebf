import type { Socket } from 'node:net'
import type { AnswerHead } from './answer-head.ts'
import { type AnswerListener, AnswerReader } from './answer-reader.ts'
import type { Carried, Carrier } from './carrier.ts'
import { isPlain } from './plain-socket.ts'

export interface Http1CarrierOptions {
  socket: Socket
  keepAliveMs: number
  /** No other request is to be given to it. */
  onClosed: () => void
}

const MAX_KEEP_ALIVE_MS = 60_000
// The receiver counts from another moment, and a request must not cross its good-bye.
const KEEP_ALIVE_MARGIN_MS = 2_000

/**
 * One request at a time over one socket, which is written and read by nobody else. A client that does more, such as undici's,
 * takes twice the time for it; what strangers may send is read by `AnswerReader`, strictly.
 */
export class Http1Carrier implements Carrier, AnswerListener {
  readonly protocol = 'http/1.1'
  readonly limit = 1
  readonly #socket: Socket
  readonly #reader = new AnswerReader(this)
  readonly #keepAliveMs: number
  readonly #onClosed: () => void
  #carried: Carried | null = null
  #isWritten = false
  #isClosed = false
  #wasUsed = false
  #idleMs: number
  #error: Error | undefined
  /** Whether what is read has to be copied by who keeps it. */
  #isBorrowed = false

  constructor({ socket, keepAliveMs, onClosed }: Http1CarrierOptions) {
    this.#socket = socket
    this.#keepAliveMs = keepAliveMs
    this.#idleMs = keepAliveMs
    this.#onClosed = onClosed
    socket.setTimeout(keepAliveMs)
    if (isPlain(socket)) {
      this.#isBorrowed = true
      socket.onBytes = (bytes) => this.#read(bytes)
    } else socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => {
      this.#error = error
    })
    socket.on('close', () => this.#ended())
    socket.on('timeout', () => {
      if (this.#carried === null) this.#drop()
    })
  }

  send(carried: Carried): void {
    this.#carried = carried
    this.#isWritten = false
    // What the receiver has said unasked, or that it has closed, is read first: it is no answer to this request.
    if (this.#wasUsed) writeSoon(this)
    else this.write()
  }

  write(): void {
    if (this.#carried === null) return
    if (this.#carried.isLate) {
      this.#carried.onLate()
      return
    }
    if (this.#wasUsed) this.#socket.ref()
    this.#wasUsed = true
    this.#isWritten = true
    this.#reader.begin()
    this.#socket.write(this.#carried.request.bytes)
  }

  destroy(reason: Error, done: () => void): void {
    const carried = this.#carried
    this.#carried = null
    this.#isClosed = true
    if (this.#socket.closed) done()
    else this.#socket.once('close', done).destroy()
    carried?.onResponseError(null, reason)
  }

  onHead(head: AnswerHead): void {
    this.#keepFor(head.keepsMs)
    const { status, headers, statusText } = head
    this.#carried?.onResponseStart(null, status, headers, statusText)
  }

  onData(chunk: Buffer): void {
    this.#carried?.onResponseData(null, this.#isBorrowed ? Buffer.from(chunk) : chunk)
  }

  onEnd(isWhole: boolean): void {
    const carried = this.#carried
    this.#carried = null
    // An answer that came before the request was sent leaves the rest of it behind.
    if (!isWhole || this.#socket.writableLength > 0) this.#close()
    if (!this.#isClosed) this.#socket.unref()
    carried?.onResponseEnd()
    if (this.#isClosed) this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed && this.#carried === null) return
    try {
      this.#reader.read(chunk)
    } catch (error) {
      this.#error = error as Error
      this.#drop()
    }
  }

  #keepFor(saidMs: number | undefined): void {
    const ms = saidMs === undefined ? this.#keepAliveMs : Math.min(saidMs - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS)
    if (ms <= 0) this.#close()
    else if (ms !== this.#idleMs) {
      this.#idleMs = ms
      this.#socket.setTimeout(ms)
    }
  }

  /** By the receiver, or because nothing that follows can be understood. */
  #ended(): void {
    if (this.#carried !== null && this.#isWritten && this.#reader.isEndedByClose && this.#error === undefined) {
      this.onEnd(false)
    } else this.#drop()
  }

  #drop(): void {
    const carried = this.#carried
    this.#carried = null
    this.#close()
    this.#socket.destroy()
    if (carried === null) return
    const error = this.#error ?? new Error('other side closed')
    if (this.#isWritten) carried.onResponseError(null, error)
    else carried.onUnsent()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClosed()
  }
}

const unwritten: Http1Carrier[] = []

/** Those of one turn of the event loop together, when it has read what the sockets had. */
function writeSoon(carrier: Http1Carrier): void {
  if (unwritten.push(carrier) === 1) setImmediate(writeAll)
}

function writeAll(): void {
  for (const carrier of unwritten.splice(0)) carrier.write()
}
