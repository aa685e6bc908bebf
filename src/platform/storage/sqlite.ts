import { realpathSync } from 'node:fs'
import type { Kysely, QueryResult } from 'kysely'
import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database, Reader, Transaction, WriteOptions } from './database.ts'
import { kyselyOver } from './kysely-over.ts'
import { Signals } from './signals.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { SqliteLog } from './sqlite-log.ts'
import { SqliteTraces } from './sqlite-traces.ts'
import { SqliteWriter } from './sqlite-writer.ts'
import type { Statement } from './statement.ts'
import { isSqliteCorruption, toStorageError } from './storage-errors.ts'
import type { Tables } from './tables.ts'

// Snapshots that are open at the same time; more wait for one to end.
const SNAPSHOT_CONNECTIONS = 8
// Each has a cache of its own, so all of them together bound what lists of a large table may take.
const SNAPSHOT_CACHE_KIB = 4_096

/** A file whose tables are read beside those of the database. */
export interface SideFile {
  name: string
  /** How a statement names one of its tables. */
  tables: RegExp
  /** A statement found it damaged. Answers with what the one who asked is told. */
  onDamage(error: unknown): unknown
}

/** What is thrown when a statement fails on a connection. */
type Failure = (error: unknown, sql: string, connection: SqliteConnection) => unknown

/** The embedded engine: one file, one writer, read connections of their own. */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly mostSnapshots = SNAPSHOT_CONNECTIONS
  readonly query: Kysely<Tables>
  readonly file: string
  readonly #signals: Signals
  readonly #writing: SqliteConnection
  readonly #writer: SqliteWriter
  readonly #traces: SqliteTraces
  readonly #reader: SqliteConnection
  readonly #snapshots: SqliteConnection[] = []
  readonly #waiting: ((connection: SqliteConnection) => void)[] = []
  readonly #sides = new Map<string, SideFile>()
  readonly #unattached = new WeakMap<SqliteConnection, unknown>()
  #attached: ReadonlyMap<string, string> = new Map()
  #openSnapshots = 0
  #closed = false

  /** `syncLog`: for tests of a disk that fails. */
  constructor(file: string, clock: Clock, log: Logger, syncLog?: (descriptor: number) => Promise<void>) {
    this.file = file
    this.#signals = new Signals(log)
    this.#writing = new SqliteConnection(file, { readOnly: false })
    // Through a link, as to a larger disk, SQLite keeps the log beside the file that it leads to.
    const real = realpathSync(file)
    this.#writer = new SqliteWriter({
      connection: this.#writing,
      walLog: new SqliteLog(real, clock, syncLog),
      clock,
      signals: this.#signals,
      log,
    })
    this.#traces = new SqliteTraces(real, this.#writer, clock)
    this.#reader = new SqliteConnection(file, { readOnly: true })
    const runner = new ConnectionRunner(this.#reader, this.#failure)
    this.query = kyselyOver('sqlite', {
      execute: (sql, parameters) => runner.execute(sql, parameters),
      stream: () => {
        // As long as it is open, everybody who shares the connection would see the state of its beginning.
        throw new Error('Stream inside Database.read: it holds one state of the data')
      },
    })
  }

  async run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return runPrepared(this.#reader, this.#failure, statement, input)
  }

  async read<T>(work: (snapshot: Reader) => Promise<T>): Promise<T> {
    const connection = await this.#borrow()
    try {
      this.#attachTo(connection)
      connection.execute('begin', [])
      return await work(new Snapshot(connection, this.#failure))
    } catch (error) {
      throw toStorageError(error)
    } finally {
      if (connection.inTransaction) connection.execute('rollback', [])
      this.#giveBack(connection)
    }
  }

  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.#writer.write(work, options)
  }

  writeOne<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return this.write((tx) => tx.run(statement, input))
  }

  subscribe(topic: string, listener: (body: string) => void): () => void {
    return this.#signals.subscribe(topic, listener)
  }

  /**
   * Makes the tables of another file readable beside those of this one; null ends that. A snapshot that is open goes on with
   * what it began with.
   */
  attach(side: SideFile, file: string | null): void {
    const { name } = side
    this.#sides.set(name, side)
    // A new map even for the same name: there may be another file behind it.
    const others = [...this.#attached].filter(([other]) => other !== name)
    this.#attached = new Map(file === null ? others : [...others, [name, file]])
    try {
      for (const connection of [this.#reader, ...this.#snapshots]) connection.attach(this.#attached)
    } catch (error) {
      throw toStorageError(error)
    }
  }

  /** Another number whenever another process has changed something: a command beside the server, whose signals are not heard here. */
  foreignVersion(): number {
    try {
      const [row] = this.#writing.rows('pragma data_version', []) as { data_version: number }[]
      return (row as { data_version: number }).data_version
    } catch (error) {
      throw toStorageError(error)
    }
  }

  eraseTraces(): Promise<void> {
    return this.#traces.erase()
  }

  async ping(): Promise<void> {
    try {
      this.#reader.execute('select 1 from sqlite_master limit 1', [])
    } catch (error) {
      throw toStorageError(error)
    }
  }

  async close(): Promise<void> {
    await this.#writer.drain()
    this.#closed = true
    this.#reader.close()
    for (const connection of this.#snapshots.splice(0)) connection.close()
    // NOTE Last: only a connection that may write empties the log into the file and removes it.
    this.#writer.close()
    await this.#traces.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #borrow(): Promise<SqliteConnection> {
    const idle = this.#snapshots.pop()
    if (idle !== undefined) return idle
    if (this.#openSnapshots >= SNAPSHOT_CONNECTIONS) return new Promise((resolve) => this.#waiting.push(resolve))
    try {
      const connection = new SqliteConnection(this.file, { readOnly: true, cacheKib: SNAPSHOT_CACHE_KIB })
      this.#openSnapshots++
      return connection
    } catch (error) {
      // Where no more files can be opened, those that are have to do.
      if (this.#openSnapshots > 0) return new Promise((resolve) => this.#waiting.push(resolve))
      throw toStorageError(error)
    }
  }

  /** Other files are for some questions only; a damaged one must not be in the way of the rest. */
  #attachTo(connection: SqliteConnection): void {
    try {
      connection.attach(this.#attached)
      this.#unattached.delete(connection)
    } catch (error) {
      // Who asks for its tables hears it.
      this.#unattached.set(connection, error)
    }
  }

  readonly #failure: Failure = (error, sql, connection) => {
    const side = [...this.#sides.values()].find(({ tables }) => tables.test(sql))
    if (side === undefined) return toStorageError(error)
    const cause = this.#unattached.get(connection) ?? error
    return isSqliteCorruption(cause) ? side.onDamage(cause) : toStorageError(cause)
  }

  #giveBack(connection: SqliteConnection): void {
    const next = this.#waiting.shift()
    if (next !== undefined) next(connection)
    else if (this.#closed) connection.close()
    else this.#snapshots.push(connection)
  }
}

class Snapshot implements Reader {
  readonly engine = 'sqlite'
  readonly #connection: SqliteConnection
  readonly #failure: Failure
  #query: Kysely<Tables> | undefined

  constructor(connection: SqliteConnection, failure: Failure) {
    this.#connection = connection
    this.#failure = failure
  }

  get query(): Kysely<Tables> {
    this.#query ??= kyselyOver('sqlite', new ConnectionRunner(this.#connection, this.#failure))
    return this.#query
  }

  async run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return runPrepared(this.#connection, this.#failure, statement, input)
  }
}

class ConnectionRunner {
  readonly #connection: SqliteConnection
  readonly #failure: Failure

  constructor(connection: SqliteConnection, failure: Failure) {
    this.#connection = connection
    this.#failure = failure
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<QueryResult<unknown>> {
    try {
      return this.#connection.execute(sql, parameters)
    } catch (error) {
      throw this.#failure(error, sql, this.#connection)
    }
  }

  async *stream(
    sql: string,
    parameters: readonly unknown[],
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<unknown>> {
    let rows: unknown[] = []
    for (const row of this.#connection.iterate(sql, parameters)) {
      rows.push(row)
      if (rows.length < chunkSize) continue
      yield { rows }
      rows = []
    }
    yield { rows }
  }
}

function runPrepared<Input extends object, Row>(
  connection: SqliteConnection,
  failure: Failure,
  statement: Statement<Input, Row>,
  input: Input,
): Row[] {
  const prepared = statement.prepared('sqlite')
  try {
    return connection.rows(prepared.sql, prepared.bind(input)) as Row[]
  } catch (error) {
    throw failure(error, prepared.sql, connection)
  }
}
