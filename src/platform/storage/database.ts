import type { Kysely } from 'kysely'
import type { Engine } from './engine.ts'
import type { Statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** What a query may use: Kysely for an endpoint, a prepared statement for a hot path. */
export interface Reader {
  readonly engine: Engine
  readonly query: Kysely<Tables>
  run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]>
}

/** What a change adds to a sum. */
export interface Addend {
  name: string
  amount: number
}

/**
 * The same for the statement that adds it: a sum is spread over rows. On PostgreSQL two transactions that raise the same row
 * wait for one another, so each takes one of some shards for all of its sums. SQLite has one writer and needs one.
 */
export interface ShardAddend extends Addend {
  shard: number
}

/** A Reader that may write, inside one transaction. Dead as soon as the transaction ended. */
export interface Transaction extends Reader {
  readonly isTransaction: true
  /** Runs a statement without rows to answer; how many rows it changed. */
  change<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number>
  /**
   * The same where nobody needs to know. PostgreSQL is asked for the next thing without waiting for the answer; when the
   * statement fails, so does the transaction, at its end or at the next statement.
   */
  send<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<unknown>
  /** Inserts one row; the number that the database gave it. On PostgreSQL the statement says `returning` that column. */
  insert<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number>
  /** Runs such a statement for each of the inputs, in order. */
  changeEach<Input extends object>(statement: Statement<Input, never>, inputs: readonly Input[]): Promise<void>
  /** The same; how many rows it changed for each of them. */
  changeCounts<Input extends object>(statement: Statement<Input, never>, inputs: readonly Input[]): Promise<number[]>
  /**
   * Adds to a sum by the statement, which runs once for all that a transaction adds (on SQLite, all that share a commit), just
   * before the commit: others wait for the row from then on. Whoever reads or changes the same rows in another way inside a
   * transaction calls `writeSums` first. Where a sum cannot be added to, the transaction fails.
   */
  addToSum(statement: Statement<ShardAddend, never>, addend: Addend): Promise<void>
  writeSums(): Promise<void>
  /** Called now and then in the middle of long work that is no query: others have their turn when it is due. */
  breathe(): Promise<void>
  /**
   * Runs once the change is durable, or whoever asked for it was told that it may not be; never when it was rolled back. Must not throw.
   */
  afterCommit(callback: () => void): void
  /** Tells every process that listens on the topic, at the same time. At most 7,000 bytes. */
  signal(topic: string, body?: string): void
}

export interface ReadOptions {
  /** Known to be long, such as a backup: PostgreSQL may take any time for each of its statements. */
  isLong?: boolean
}

export interface WriteOptions {
  /**
   * PostgreSQL only; SQLite has one writer and is always serializable. The default makes both engines behave
   * alike; a statement that is safe by itself (a claim, a counter) may ask for less.
   */
  isolation?: 'serializable' | 'read committed'
  /** Known to be long: runs in a commit of its own instead of delaying those that share one, and may take its time. */
  alone?: boolean
}

/**
 * One database, whichever engine is behind it.
 *
 * NOTE The function given to `write` may run more than once (a serialization failure, a demotion to a commit of
 * its own): it must have no effect outside the transaction, and must await nothing but its own queries. It must not
 * go on after a query of it failed: PostgreSQL has given up the whole change by then.
 */
export interface Database extends Reader, AsyncDisposable {
  /** So many states of the data can be held at a time. On PostgreSQL each takes a connection that everything else needs, too. */
  readonly mostSnapshots: number
  /** Several statements that see one state of the data. */
  read<T>(work: (snapshot: Reader) => Promise<T>, options?: ReadOptions): Promise<T>
  /** One atomic, durable change. Resolves only when it is on disk. */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /** The same for one statement that is safe by itself: PostgreSQL needs one round trip, and it is `read committed`. */
  writeOne<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]>
  /** Calls back for each signal on the topic, from this process or another. The answer unsubscribes. */
  subscribe(topic: string, listener: (body: string) => void): () => void
  /**
   * Overwrites what deleted and changed rows left behind in the files of the database, so that no byte of them can be
   * found there. `unavailable` when somebody reads an older state for too long. PostgreSQL reuses the space of old
   * rows by itself and has no such call.
   */
  eraseTraces(): Promise<void>
  /** Throws `unavailable` unless storage answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
