import type { GuardedConnect } from './connect-guarded.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import type { Exchange, ExchangeOwner } from './exchange.ts'

export interface OriginOptions {
  /** Without a path. */
  origin: URL
  connect: GuardedConnect
  elapsedMs: () => number
  keepAliveMs: number
  /** Called when nothing is left: no connection, nobody who waits for one. */
  onEmpty: () => void
}

/** So that a name's new addresses are noticed however busy a connection is. */
const MAX_AGE_MS = 60_000

/**
 * The connections to one origin. HTTP/1.1 carries one exchange per socket, so as many are opened as there are exchanges
 * at a time. Whether a receiver speaks HTTP/2 is known only when TLS stands: until then others wait for the first
 * connection instead of opening a hundred.
 */
export class Origin implements ConnectionOwner, ExchangeOwner {
  readonly #options: OriginOptions
  readonly #connections = new Set<Connection>()
  /** Those that can carry one more; the last one is used first, so that what is not needed falls idle. */
  readonly #free: Connection[] = []
  readonly #waiting = new Set<Exchange>()
  #connecting = 0
  #isSingle: boolean

  constructor(options: OriginOptions) {
    this.#options = options
    this.#isSingle = options.origin.protocol === 'http:'
  }

  get isIdle(): boolean {
    if (this.#waiting.size > 0) return false
    for (const { inFlight } of this.#connections) if (inFlight > 0) return false
    return true
  }

  send(exchange: Exchange): void {
    const tooOld: Connection[] = []
    const free = this.#takeFree(tooOld)
    if (free !== undefined) this.#hand(free, exchange)
    else if (this.#connecting > 0 && !this.#isSingle) this.#waiting.add(exchange)
    else this.#hand(this.#open(), exchange)
    // Last: an origin with nothing left is forgotten, and with it whatever is sent there afterwards.
    for (const connection of tooOld) this.#drop(connection, new Error('too old'))
  }

  sendAgain(exchange: Exchange, unused: Connection): void {
    this.#retire(unused)
    exchange.connection = null
    this.send(exchange)
    // Last, for the same reason.
    this.release(unused, true)
  }

  withdraw(exchange: Exchange): void {
    const { connection } = exchange
    if (connection === null) {
      this.#waiting.delete(exchange)
      this.#tellIfEmpty()
      return
    }
    exchange.leave(true)
  }

  release(connection: Connection, isBroken: boolean): void {
    connection.inFlight--
    if (isBroken) this.#retire(connection)
    if (connection.isRetired) {
      if (connection.inFlight === 0) this.#drop(connection, new Error('retired'))
    } else if (connection.inFlight === connection.limit - 1) {
      this.#free.push(connection)
    }
    this.#serveWaiting()
  }

  connected(connection: Connection): void {
    if (!this.#endConnecting(connection)) return
    this.#isSingle = !connection.isMultiplexed
    if (connection.inFlight < connection.limit && !connection.isRetired) this.#free.push(connection)
    for (const exchange of this.#takeWaiting()) this.send(exchange)
  }

  failed(connection: Connection, error: Error): void {
    if (!this.#endConnecting(connection)) return
    this.#retire(connection)
    // The receiver is there and takes no more connections: the others get their turn on those that stand.
    if (this.#stands()) return
    for (const exchange of this.#takeWaiting()) exchange.fail(error)
  }

  closed(connection: Connection): void {
    if (connection.inFlight === 0) this.#drop(connection, new Error('closed'))
    else this.#retire(connection)
    this.#serveWaiting()
  }

  async destroy(reason: Error): Promise<void> {
    for (const exchange of this.#takeWaiting()) exchange.fail(reason)
    await Promise.all(
      [...this.#connections].map(
        (connection) => new Promise<void>((resolve) => this.#drop(connection, reason, resolve)),
      ),
    )
  }

  /** Adds those that are to be dropped to `tooOld`. */
  #takeFree(tooOld: Connection[]): Connection | undefined {
    for (let last = this.#free.at(-1); last !== undefined; last = this.#free.at(-1)) {
      if (this.#options.elapsedMs() - last.openedAtMs < MAX_AGE_MS) {
        if (last.inFlight === last.limit - 1) this.#free.pop()
        return last
      }
      this.#retire(last)
      if (last.inFlight === 0) tooOld.push(last)
    }
    return undefined
  }

  #hand(connection: Connection, exchange: Exchange): void {
    connection.inFlight++
    exchange.connection = connection
    connection.send(exchange)
  }

  #open(): Connection {
    const { elapsedMs, ...options } = this.#options
    const connection = new Connection({ ...options, owner: this, openedAtMs: elapsedMs() })
    this.#connections.add(connection)
    this.#connecting++
    return connection
  }

  #endConnecting(connection: Connection): boolean {
    if (!connection.isConnecting) return false
    connection.isConnecting = false
    this.#connecting--
    return true
  }

  /** Gives them what has come free, and opens a connection where they would wait for nothing. */
  #serveWaiting(): void {
    for (const exchange of this.#waiting) {
      const isInVain = this.#connecting === 0 && !this.#stands()
      if (this.#free.length === 0 && !isInVain) return
      this.#waiting.delete(exchange)
      this.send(exchange)
    }
  }

  /** Whether there is a connection that gets free again. */
  #stands(): boolean {
    for (const { isConnecting, isRetired } of this.#connections) if (!isConnecting && !isRetired) return true
    return false
  }

  #takeWaiting(): Exchange[] {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    return waiting
  }

  #retire(connection: Connection): void {
    connection.isRetired = true
    const at = this.#free.indexOf(connection)
    if (at >= 0) this.#free.splice(at, 1)
  }

  #drop(connection: Connection, reason: Error, done?: () => void): void {
    if (!this.#connections.delete(connection)) {
      done?.()
      return
    }
    this.#retire(connection)
    const wasAwaited = this.#endConnecting(connection)
    connection.destroy(reason, done)
    // Whoever waited for this connection needs another one.
    if (wasAwaited) for (const exchange of this.#takeWaiting()) this.send(exchange)
    else this.#serveWaiting()
    this.#tellIfEmpty()
  }

  #tellIfEmpty(): void {
    if (this.#connections.size === 0 && this.#waiting.size === 0) this.#options.onEmpty()
  }
}
