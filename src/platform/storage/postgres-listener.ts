import { once } from 'node:events'
import pg from 'pg'
import { type Clock, sleep } from '../clock/clock.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'
import type { Logger } from '../logging/logger.ts'
import { SESSION_SETTINGS } from './postgres-session.ts'
import type { Signals } from './signals.ts'

/** As SQL. Channels are of the whole database, in which another installation may have another schema. */
export const SIGNAL_CHANNEL = `case when current_schema() <> 'public' then 'commonplace_' || md5(current_schema()) else 'commonplace' end`

const FIRST_RECONNECT_MS = 100
const LONGEST_RECONNECT_MS = 5_000
const ASK_EVERY_MS = 30_000

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
    const { clock, log, signals, connection } = this.#options
    const { signal } = this.#stopping
    let wait = FIRST_RECONNECT_MS
    let firstTry = true
    while (!signal.aborted) {
      try {
        // Reads the certificates that the address names, which may be missing while they are replaced.
        const client = new pg.Client(connection)
        this.#client = client
        const ended = endOf(client)
        await this.#listen(client, ended)
        wait = FIRST_RECONNECT_MS
        if (!firstTry) {
          log.info('the PostgreSQL listener has a connection again')
          signals.emitAll()
        }
        tried()
        await this.#watch(client, ended)
      } catch (error) {
        log.debug({ err: error }, 'the PostgreSQL listener could not connect')
      }
      ignoreFailure(this.#client?.end(), 'the connection is given up')
      firstTry = false
      tried()
      if (signal.aborted) return
      // Told once, not by each try.
      const level = wait === FIRST_RECONNECT_MS ? 'warn' : 'debug'
      log[level]({ retryMs: wait }, 'the PostgreSQL listener has no connection; trying until it has one')
      await sleep(clock, wait, signal).catch(() => {})
      wait = Math.min(wait * 2, LONGEST_RECONNECT_MS)
    }
  }

  async #listen(client: pg.Client, ended: AbortSignal): Promise<void> {
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''))
    // NOTE A client that is ended while it connects never settles `connect`.
    await Promise.race([client.connect(), once(ended, 'abort')])
    await client.query(SESSION_SETTINGS)
    const { rows } = await client.query<{ channel: string }>(`select ${SIGNAL_CHANNEL} as channel`)
    await client.query(`listen ${rows[0]?.channel}`)
  }

  /** Until the connection is gone. One that fails without a word is found out by a question from time to time. */
  async #watch(client: pg.Client, ended: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, ASK_EVERY_MS, ended).catch(() => {})
      if (ended.aborted) return
      await client.query('select 1')
    }
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

function endOf(client: pg.Client): AbortSignal {
  const ended = new AbortController()
  client.on('error', () => ended.abort())
  client.on('end', () => ended.abort())
  return ended.signal
}
