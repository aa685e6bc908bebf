import pg from 'pg'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Signals } from './signals.ts'

export const SIGNAL_CHANNEL = 'commonplace'

const FIRST_RECONNECT_MS = 100
const LONGEST_RECONNECT_MS = 5_000

export interface PostgresListenerOptions {
  connection: pg.ClientConfig
  clock: Clock
  log: Logger
  signals: Signals
}

/**
 * One connection of its own that listens for other processes. It comes back by itself after an outage, and then
 * wakes every subscriber: signals sent meanwhile are gone, so each has to look at the data.
 */
export class PostgresListener {
  readonly #options: PostgresListenerOptions
  readonly #stopping = new AbortController()
  #client: pg.Client | undefined
  #running: Promise<void> | undefined

  constructor(options: PostgresListenerOptions) {
    this.#options = options
  }

  /** Resolves after the first try: a signal sent from then on is heard, or made up for by a wake-up. */
  start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#run(resolve)
    return promise
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#client?.end().catch(() => {})
    await this.#running
  }

  async #run(tried: () => void): Promise<void> {
    const { clock, log, signals } = this.#options
    const { signal } = this.#stopping
    let wait = FIRST_RECONNECT_MS
    let firstTry = true
    while (!signal.aborted) {
      try {
        const { ended } = await this.#listen()
        wait = FIRST_RECONNECT_MS
        if (!firstTry) signals.emitAll()
        tried()
        await ended
      } catch (error) {
        log.debug({ err: error }, 'the PostgreSQL listener could not connect')
      }
      firstTry = false
      tried()
      if (signal.aborted) return
      log.warn({ retryMs: wait }, 'the PostgreSQL listener lost its connection')
      await sleep(clock, wait, signal).catch(() => {})
      wait = Math.min(wait * 2, LONGEST_RECONNECT_MS)
    }
  }

  /** Resolves once it listens, with a promise that settles when the connection is gone. */
  async #listen(): Promise<{ ended: Promise<void> }> {
    const client = new pg.Client(this.#options.connection)
    this.#client = client
    const ended = new Promise<void>((resolve) => {
      client.on('error', () => resolve())
      client.on('end', () => resolve())
    })
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''))
    // NOTE A client that is ended while it connects never settles `connect`.
    await Promise.race([client.connect(), ended])
    await client.query(`listen ${SIGNAL_CHANNEL}`)
    return { ended }
  }

  #receive(payload: string): void {
    let message: unknown
    try {
      message = JSON.parse(payload)
    } catch {
      // Anyone with access to the database may notify on the channel.
      return
    }
    if (!Array.isArray(message) || typeof message[0] !== 'string' || typeof message[1] !== 'string') return
    this.#options.signals.emit(message[0], message[1])
  }
}
