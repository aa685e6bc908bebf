import type { Socket } from 'node:net'
import type { Carried, Carrier } from './carrier.ts'
import type { GuardedConnect } from './connect-guarded.ts'
import { Http1Carrier } from './http1-carrier.ts'
import { Http2Carrier } from './http2-carrier.ts'

/** Told what becomes of a connection. */
export interface ConnectionOwner {
  connected(connection: Connection): void
  /** Before the exchange that it was opened for learns of it. */
  failed(connection: Connection, error: Error): void
  closed(connection: Connection): void
}

export interface ConnectionOptions {
  origin: URL
  /** Lets the receiver choose the protocol. */
  connect: GuardedConnect
  owner: ConnectionOwner
  openedAtMs: number
  keepAliveMs: number
}

/** A way to the receiver: on its way, then carrying as many requests at a time as its protocol allows. */
export class Connection {
  readonly openedAtMs: number
  inFlight = 0
  /** Gets no more requests and is destroyed when the last one has left. */
  isRetired = false
  isConnecting = true
  address: string | null = null
  readonly #options: ConnectionOptions
  readonly #opening: Socket
  #carrier: Carrier | undefined
  #first: Carried | undefined

  constructor(options: ConnectionOptions) {
    this.openedAtMs = options.openedAtMs
    this.#options = options
    const { protocol, host, hostname, port } = options.origin
    const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port }
    this.#opening = options.connect(target, (...[error, socket]) => {
      if (error === null) this.#stand(socket)
      else this.#fail(error)
    })
    this.#opening.on('connectionAttempt', (address: string) => {
      this.address = address
    })
  }

  /** One request may be given before the protocol is known. */
  get limit(): number {
    return this.#carrier?.limit ?? 1
  }

  get isMultiplexed(): boolean {
    return this.#carrier?.protocol === 'h2'
  }

  send(carried: Carried): void {
    if (this.#carrier === undefined) this.#first = carried
    else this.#carrier.send(carried)
  }

  destroy(reason: Error, done: () => void = () => {}): void {
    if (this.#carrier !== undefined) {
      this.#carrier.destroy(reason, done)
      return
    }
    if (this.#opening.closed) done()
    else this.#opening.once('close', done).destroy()
    // Nobody else tells it: a socket that is destroyed on its way neither stands nor fails.
    const first = this.#first
    this.#first = undefined
    first?.onResponseError(null, reason)
  }

  #stand(socket: Socket & { alpnProtocol?: string | false | null }): void {
    const { origin, keepAliveMs } = this.#options
    this.address = socket.remoteAddress ?? this.address
    const options = { socket, keepAliveMs, onClosed: () => this.#close() }
    if (socket.alpnProtocol === 'h2') {
      const carrier = new Http2Carrier({ ...options, origin, onReady: () => this.#use(carrier) })
    } else {
      this.#use(new Http1Carrier(options))
    }
  }

  #use(carrier: Carrier): void {
    this.#carrier = carrier
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) carrier.send(first)
    this.#options.owner.connected(this)
  }

  #close(): void {
    if (this.#carrier === undefined) this.#fail(new Error('other side closed'))
    else this.#options.owner.closed(this)
  }

  #fail(error: Error): void {
    this.#options.owner.failed(this, error)
    const first = this.#first
    this.#first = undefined
    first?.onResponseError(null, error)
  }
}
