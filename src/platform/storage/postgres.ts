import type { Kysely, QueryResult } from 'kysely'
import pg from 'pg'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database, Reader, ReadOptions, Transaction, WriteOptions } from './database.ts'
import { kyselyOver } from './kysely-over.ts'
import { addressFor, PooledClient } from './postgres-client.ts'
import { PostgresListener, SIGNAL_CHANNEL } from './postgres-listener.ts'
import { isBackendAtWork, LongAnswers } from './postgres-long-answers.ts'
import { refuseUnfit, SESSION_SETTINGS } from './postgres-session.ts'
import { type Ask, PostgresTransaction } from './postgres-transaction.ts'
import { Signals } from './signals.ts'
import type { Statement } from './statement.ts'
import {
  isBehindFailure,
  isConnectionLost,
  isSerializationFailure,
  isStalePlan,
  toStorageError,
} from './storage-errors.ts'
import type { Tables } from './tables.ts'

// Of dozens that come at once some lose ten times in a row, each time to somebody else's row in the same small table: they find their
// turn within the four seconds or so that all tries take.
const TRIES = 16
const FIRST_RETRY_MS = 2
const LONGEST_RETRY_MS = 1_000
const CONNECT_TIMEOUT_MS = 5_000
// A server or a network that fails without a word leaves connections on which nothing ever arrives. Whoever asked is
// told so after this time, and the connection is given up. What is known to be long may take any time, as long as the server, which is
// asked that often, is at work on it.
const ANSWER_TIMEOUT_MS = 30_000
const PING_TIMEOUT_MS = 2_000
const ANY_TIME_MS = 2_147_483_647
// A machine that loses its power or its network says nothing either, and the server would keep the locks of what it was
// changing for hours. A change waits for nothing but its own statements, so that this is long between two of them; who waits for its
// locks is told nothing before that.
const SILENT_WRITER_MS = 20_000
// What may take any time here may do so there, whatever limits an operator has set for the rest. Some servers do not know all of them.
const LIMITS = ['statement_timeout', 'lock_timeout', 'transaction_timeout']
const NO_LIMITS = noLimits(LIMITS)
const NO_LIMITS_OF_READERS = noLimits([...LIMITS, 'idle_in_transaction_session_timeout'])
// Not as the connection was told: a pooler in between tells a number of its own.
const OWN_PID = 'select pg_backend_pid() as pid'

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
  answerTimeoutMs?: number
  silentWriterMs?: number
}

/** The shared engine: any number of equal processes on one database. */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly mostSnapshots: number
  readonly query: Kysely<Tables>
  readonly #url: string
  readonly #connection: pg.ClientConfig
  readonly #answerTimeoutMs: number
  readonly #silentWriterMs: number
  readonly #pool: pg.Pool
  readonly #clock: Clock
  readonly #log: Logger
  readonly #signals: Signals
  readonly #listener: PostgresListener

  constructor(options: PostgresOptions) {
    const { url, poolSize, clock, log } = options
    const { answerTimeoutMs = ANSWER_TIMEOUT_MS, silentWriterMs = SILENT_WRITER_MS } = options
    const connection = {
      connectionString: addressFor(url),
      types: TYPES,
      application_name: 'commonplace',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: answerTimeoutMs,
      keepAlive: true,
    }
    this.mostSnapshots = poolSize
    this.#url = url
    this.#connection = connection
    this.#answerTimeoutMs = answerTimeoutMs
    this.#silentWriterMs = silentWriterMs
    this.#clock = clock
    this.#log = log
    this.#signals = new Signals(log)
    // A pipeline: what does not need the answer to the statement before it is sent at once, and answered in order.
    this.#pool = new pg.Pool({
      ...connection,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      pipeline: true,
      Client: PooledClient,
    } as pg.PoolConfig)
    // Sent before whatever it was made for, which need not wait for the answer.
    this.#pool.on('connect', (client) => {
      client
        .query(SESSION_SETTINGS)
        .catch((error: unknown) => log.warn({ err: error }, 'a new PostgreSQL connection could not be set up'))
    })
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

  /** For a thread that opens a connection of its own; with the password. */
  get url(): string {
    return this.#url
  }

  /** Refuses a server that is unfit before anything is written to it. */
  async open(): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await refuseUnfit(client, this.#connection)
    } finally {
      client.release()
    }
    await this.#listener.start()
  }

  async run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return this.#againWhenAsked(() => this.#runPrepared(statement, input))
  }

  async read<T>(work: (snapshot: Reader) => Promise<T>, { isLong = false }: ReadOptions = {}): Promise<T> {
    const limits = isLong ? `; ${NO_LIMITS_OF_READERS}` : ''
    const mode = `isolation level repeatable read read only${limits}`
    return this.#inTransaction(mode, { isLong, isWriting: false }, work).catch((error: unknown) => {
      throw toStorageError(error)
    })
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const isLong = options.alone === true
    const limit = `set local idle_in_transaction_session_timeout = ${this.#silentWriterMs}${isLong ? `; ${NO_LIMITS}` : ''}`
    const mode = `isolation level ${options.isolation ?? 'serializable'}; ${limit}`
    return this.#againWhenAsked(() => this.#inTransaction(mode, { isLong, isWriting: true }, work))
  }

  async writeOne<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return this.#againWhenAsked(() => this.#runPrepared(statement, input))
  }

  async #runPrepared<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    const { name, sql, bind } = statement.prepared('postgres')
    return (await this.#pool.query({ name, text: sql, values: bind(input) })).rows
  }

  /** The server asks for a change to be made again when another one came in between, or on a connection that knows the tables as they are. */
  async #againWhenAsked<T>(change: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await change()
      } catch (error) {
        if (!isAskedForAgain(error) || attempt >= TRIES) throw toStorageError(error)
        await sleep(this.#clock, Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS) * Math.random())
      }
    }
  }

  subscribe(topic: string, listener: (body: string) => void): () => void {
    return this.#signals.subscribe(topic, listener)
  }

  async eraseTraces(): Promise<void> {}

  async ping(): Promise<void> {
    await this.#onPool('select 1', [], PING_TIMEOUT_MS)
  }

  async close(): Promise<void> {
    await this.#listener.stop()
    await this.#pool.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #inTransaction<T>(
    mode: string,
    { isLong, isWriting }: { isLong: boolean; isWriting: boolean },
    work: (tx: PostgresTransaction) => Promise<T>,
  ): Promise<T> {
    let client: pg.PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw toStorageError(error)
    }
    let first: unknown
    const noticed = <R>(answer: Promise<R>): Promise<R> => {
      answer.catch((error: unknown) => {
        first ??= error
      })
      return answer
    }
    // Somebody waits for it below.
    const begun = noticed(client.query(`begin ${mode}${isLong ? `; ${OWN_PID}` : ''}`))
    const answers = isLong ? this.#longAnswers(client, begun) : undefined
    const ask: Ask = (query) =>
      noticed(answers?.of(client.query(withTimeout(query, ANY_TIME_MS))) ?? client.query(query))
    const tx = new PostgresTransaction(ask)
    let broken: Error | undefined
    let committed = false
    try {
      // NOTE What is written where no transaction was begun stays, each statement by itself. Who reads need not wait.
      if (isWriting) await begun
      const value = await work(tx)
      await begun
      for (const { topic, body } of tx.signals) {
        await ask({ text: `select pg_notify(${SIGNAL_CHANNEL}, $1)`, values: [JSON.stringify([topic, body])] })
      }
      // NOTE Last of all: whoever adds to the same shard waits from here on, until this change is on disk.
      await tx.writeSums()
      tx.end()
      const { command } = await ask({ text: 'commit' })
      const failure = await tx.failureOfSent()
      if (failure !== undefined) throw failure
      // NOTE After a statement that failed PostgreSQL answers a commit with a rollback, and calls neither an error.
      if (command === 'ROLLBACK') throw new Error('The change went on after a statement of it had failed')
      committed = true
      return value
    } catch (thrown) {
      tx.end()
      // What was sent before comes first: whatever failed behind it failed for that reason, and does not always know it.
      const told = (await tx.failureOfSent()) ?? thrown
      const error = isBehindFailure(told) ? (first ?? told) : told
      // NOTE A lost connection, or a failed rollback, means that it is useless; the pool must not lend it again.
      broken = isConnectionLost(error) ? (error as Error) : await failureOf(client.query('rollback'))
      throw isAskedForAgain(error) ? error : toStorageError(error)
    } finally {
      answers?.end()
      client.release(broken)
      if (committed) this.#callBack(tx.commitCallbacks)
    }
  }

  #longAnswers(client: pg.PoolClient, begun: Promise<unknown>): LongAnswers {
    return new LongAnswers({
      clock: this.#clock,
      everyMs: this.#answerTimeoutMs,
      isAtWork: async () => isBackendAtWork(this.#connection, pidOf(await begun)),
      giveUp: () => {
        this.#log.warn('PostgreSQL is not at work on what a connection waits for, which is given up')
        ;(client as unknown as PooledClient).giveUp()
      },
    })
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

  async #onPool(sql: string, parameters: readonly unknown[], timeoutMs?: number): Promise<QueryResult<unknown>> {
    const query = { text: sql, values: parameters as unknown[] }
    try {
      return toQueryResult(await this.#pool.query(timeoutMs === undefined ? query : withTimeout(query, timeoutMs)))
    } catch (error) {
      throw toStorageError(error)
    }
  }
}

/** Of the answers to several statements the last is that to `OWN_PID`. */
function pidOf(begun: unknown): number {
  return (begun as pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid as number
}

/** For the transaction that it stands in. */
function noLimits(names: readonly string[]): string {
  return `select set_config(name, '0', true) from pg_settings where name in ('${names.join("', '")}')`
}

function isAskedForAgain(error: unknown): boolean {
  return isSerializationFailure(error) || isStalePlan(error)
}

// The types of the library know the member for a whole connection only.
function withTimeout(query: pg.QueryConfig, timeoutMs: number): pg.QueryConfig {
  return { ...query, query_timeout: timeoutMs } as pg.QueryConfig
}

function failureOf(query: Promise<unknown>): Promise<Error | undefined> {
  return query.then(
    () => undefined,
    (failure: Error) => failure,
  )
}

function toQueryResult(result: pg.QueryResult): QueryResult<unknown> {
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
}
