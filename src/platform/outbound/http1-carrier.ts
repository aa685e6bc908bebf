import type { Socket } from 'node:net'
import type { Client } from 'undici'
import type { Carried, Carrier } from './carrier.ts'
import type { GuardedConnect } from './connect-guarded.ts'
import { skipContinue } from './skip-continue.ts'

export interface Http1CarrierOptions {
  Client: typeof Client
  origin: URL
  socket: Socket
  /** For the next socket, when the receiver has closed this one between two requests. */
  connect: GuardedConnect
  keepAliveMs: number
  onClosed: () => void
}

const MAX_KEEP_ALIVE_MS = 60_000
const MAX_HEADER_BYTES = 16 * 1024

/** One request at a time, by undici's client. */
export class Http1Carrier implements Carrier {
  readonly protocol = 'http/1.1'
  readonly limit = 1
  readonly #client: Client
  #opening: Socket | undefined

  constructor({ Client, origin, socket, connect, keepAliveMs, onClosed }: Http1CarrierOptions) {
    let first: Socket | undefined = socket
    this.#client = new Client(origin, {
      connect: (target, callback) => {
        if (first !== undefined) {
          const given = first
          first = undefined
          skipContinue(given)
          // The client does not notice what is answered before it has finished asking.
          queueMicrotask(() => callback(null, given))
          return
        }
        this.#opening = connect(target, (...[error, opened]) => {
          this.#opening = undefined
          if (error === null) skipContinue(opened)
          callback(...([error, opened] as [null, Socket]))
        })
      },
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    this.#client.on('disconnect', onClosed)
  }

  send(carried: Carried): void {
    const { method, path, headers, body } = carried.request
    this.#client.dispatch({ method, path, headers, body: method === 'GET' ? null : body }, carried)
  }

  destroy(reason: Error, done: () => void): void {
    this.#opening?.destroy()
    this.#client.destroy(reason, done)
  }
}
