import type { Kysely, QueryResult } from 'kysely'
import pg from 'pg'
import { type Clock, sleep } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database, Reader, Transaction, WriteOptions } from './database.ts'
import { kyselyOver } from './kysely-over.ts'
import { PostgresListener, SIGNAL_CHANNEL } from './postgres-listener.ts'
import { PostgresTransaction } from './postgres-transaction.ts'
import { Signals } from './signals.ts'
import type { Statement } from './statement.ts'
import { isSerializationFailure, toStorageError } from './storage-errors.ts'
import type { Tables } from './tables.ts'

const SERIALIZATION_TRIES = 10
const FIRST_RETRY_MS = 2
const CONNECT_TIMEOUT_MS = 5_000

// Counters and times are bigint or numeric in PostgreSQL; all of ours fit a JS number, as they do on SQLite.
const INT8 = 20
const NUMERIC = 1700
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 || oid === NUMERIC
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

export interface PostgresOptions {
  url: string
  poolSize: number
  clock: Clock
  log: Logger
}

/** The shared engine: any number of equal processes on one database. */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly query: Kysely<Tables>
  readonly #pool: pg.Pool
  readonly #clock: Clock
  readonly #log: Logger
  readonly #signals = new Signals()
  readonly #listener: PostgresListener

  constructor({ url, poolSize, clock, log }: PostgresOptions) {
    const connection = {
      connectionString: url,
      types: TYPES,
      application_name: 'commonplace',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    }
    this.#clock = clock
    this.#log = log
    this.#pool = new pg.Pool({ ...connection, max: poolSize, idleTimeoutMillis: 30_000 })
    // An idle connection that breaks is replaced by the pool; without a listener the event would end the process.
    this.#pool.on('error', (error) => log.warn({ err: error }, 'an idle PostgreSQL connection was lost'))
    this.#listener = new PostgresListener({ connection, clock, log, signals: this.#signals })
    this.query = kyselyOver('postgres', {
      execute: (sql, parameters) => this.#onPool(sql, parameters),
      stream: () => {
        throw new Error('Stream inside Database.read: a cursor lives in a transaction')
      },
    })
  }

  /** Refuses a server that is too old before anything is written to it. */
  async open(): Promise<void> {
    const { rows } = await this.#onPool('show server_version_num', [])
    const version = Number((rows[0] as { server_version_num: string }).server_version_num)
    if (version < 150_000) {
      throw new AppError(
        'failed_precondition',
        `The PostgreSQL server has version ${Math.floor(version / 10_000)}; Commonplace needs 15 or newer: upgrade the server`,
      )
    }
    await this.#listener.start()
  }

  async run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    const prepared = statement.prepared('postgres')
    try {
      const { rows } = await this.#pool.query({ name: prepared.name, text: prepared.sql, values: prepared.bind(input) })
      return rows
    } catch (error) {
      throw toStorageError(error)
    }
  }

  async read<T>(work: (snapshot: Reader) => Promise<T>): Promise<T> {
    return this.#inTransaction('isolation level repeatable read read only', work)
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const mode = `isolation level ${options.isolation ?? 'serializable'}`
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#inTransaction(mode, work)
      } catch (error) {
        if (!isSerializationFailure(error) || attempt >= SERIALIZATION_TRIES) throw toStorageError(error)
        await sleep(this.#clock, FIRST_RETRY_MS * 2 ** attempt * Math.random())
      }
    }
  }

  subscribe(topic: string, listener: (body: string) => void): () => void {
    return this.#signals.subscribe(topic, listener)
  }

  async ping(): Promise<void> {
    await this.#onPool('select 1', [])
  }

  async close(): Promise<void> {
    await this.#listener.stop()
    await this.#pool.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #inTransaction<T>(mode: string, work: (tx: PostgresTransaction) => Promise<T>): Promise<T> {
    let client: pg.PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw toStorageError(error)
    }
    // A connection that breaks while it is lent out reports here as well as through its query.
    const onError = () => {}
    client.on('error', onError)
    const tx = new PostgresTransaction(client)
    let broken: Error | undefined
    let committed = false
    try {
      await client.query(`begin ${mode}`)
      const value = await work(tx)
      for (const { topic, body } of tx.signals) {
        await client.query('select pg_notify($1, $2)', [SIGNAL_CHANNEL, JSON.stringify([topic, body])])
      }
      tx.end()
      await client.query('commit')
      committed = true
      return value
    } catch (error) {
      tx.end()
      // NOTE A failed rollback means the connection is useless; the pool must not lend it again.
      broken = await client.query('rollback').then(
        () => undefined,
        (failure: Error) => failure,
      )
      throw isSerializationFailure(error) ? error : toStorageError(error)
    } finally {
      client.removeListener('error', onError)
      client.release(broken)
      if (committed) this.#callBack(tx.commitCallbacks)
    }
  }

  // NOTE The change is durable whatever a callback does; a defect in one must not turn success into an error.
  #callBack(callbacks: (() => void)[]): void {
    for (const callback of callbacks) {
      try {
        callback()
      } catch (error) {
        this.#log.error({ err: error }, 'a callback after a commit failed')
      }
    }
  }

  async #onPool(sql: string, parameters: readonly unknown[]): Promise<QueryResult<unknown>> {
    try {
      return toQueryResult(await this.#pool.query(sql, parameters as unknown[]))
    } catch (error) {
      throw toStorageError(error)
    }
  }
}

export function toQueryResult(result: pg.QueryResult): QueryResult<unknown> {
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
}
