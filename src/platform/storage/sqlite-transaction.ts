import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, QueryResult } from 'kysely'
import type { Clock } from '../clock/clock.ts'
import type { Addend, ShardAddend, Transaction } from './database.ts'
import { kyselyOver } from './kysely-over.ts'
import type { PendingSums } from './pending-sums.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Statement } from './statement.ts'
import type { Tables } from './tables.ts'

// SQLite answers at once, so a long transaction would never let the event loop turn; it steps aside this often.
const YIELD_EVERY_MS = 10
const ROWS_AT_ONCE = 500

/** One operation inside the writer's commit. The writer decides when it begins, ends or is interrupted. */
export class SqliteTransaction implements Transaction {
  readonly engine = 'sqlite'
  readonly isTransaction = true
  readonly startedAt: number
  lastQueryAt: number
  commitCallbacks: (() => void)[] | undefined
  signals: { topic: string; body: string }[] | undefined
  readonly #connection: SqliteConnection
  readonly #clock: Clock
  readonly #sums: PendingSums
  #query: Kysely<Tables> | undefined
  #interrupt: ((reason: unknown) => void) | undefined
  #lastYieldAt: number
  #ended: unknown
  readonly #streams: Generator<unknown>[] = []

  constructor(connection: SqliteConnection, clock: Clock, sums: PendingSums) {
    this.#connection = connection
    this.#clock = clock
    this.#sums = sums
    this.startedAt = this.lastQueryAt = this.#lastYieldAt = clock.elapsedMs()
  }

  /** Settles with the work, or as soon as the transaction is ended from outside. */
  settle<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject
      work(this).then(resolve, reject)
    })
  }

  /**
   * From here on every query of it fails. With a reason the work may still be running, but no longer inside the transaction; without one
   * it has settled, and to reject it again would cost some microseconds, since Node looks after such promises.
   */
  end(reason?: unknown): void {
    this.#ended ??= reason ?? ENDED
    // One that was given up half-way would hold its state of the data, and no later one could be written over it.
    if (this.#streams.length > 0) for (const rows of this.#streams.splice(0)) rows.return(undefined)
    if (reason !== undefined) this.#interrupt?.(reason)
  }

  get query(): Kysely<Tables> {
    this.#query ??= kyselyOver('sqlite', {
      execute: (sql, parameters) => this.#whenFree(() => this.#connection.execute(sql, parameters)),
      stream: (sql, parameters) => this.#stream(sql, parameters),
    })
    return this.#query
  }

  run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    const prepared = statement.prepared('sqlite')
    return this.#whenFree(() => this.#connection.rows(prepared.sql, prepared.bind(input)) as Row[])
  }

  change<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number> {
    const prepared = statement.prepared('sqlite')
    return this.#whenFree(() => this.#connection.change(prepared.sql, prepared.bind(input)))
  }

  send<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<unknown> {
    const prepared = statement.prepared('sqlite')
    return this.#whenFree(() => this.#connection.send(prepared.sql, prepared.bind(input)))
  }

  // NOTE Not by `returning`: SQLite runs such a statement as if there were a trigger and copies every page it touches first.
  insert<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number> {
    const prepared = statement.prepared('sqlite')
    return this.#whenFree(() => this.#connection.insert(prepared.sql, prepared.bind(input)))
  }

  changeEach<Input extends object>(statement: Statement<Input, never>, inputs: readonly Input[]): Promise<void> {
    const { sql, bind } = statement.prepared('sqlite')
    return this.#inLots(inputs, (input) => this.#connection.send(sql, bind(input)))
  }

  async changeCounts<Input extends object>(
    statement: Statement<Input, never>,
    inputs: readonly Input[],
  ): Promise<number[]> {
    const { sql, bind } = statement.prepared('sqlite')
    const counts: number[] = []
    await this.#inLots(inputs, (input) => counts.push(this.#connection.change(sql, bind(input))))
    return counts
  }

  addToSum(statement: Statement<ShardAddend, never>, addend: Addend): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    this.#sums.add(statement, addend)
    return DONE
  }

  writeSums(): Promise<void> {
    return this.#whenFree(() => this.#sums.write(this.#connection))
  }

  breathe(): Promise<void> {
    return this.#whenFree(() => {})
  }

  afterCommit(callback: () => void): void {
    this.commitCallbacks ??= []
    this.commitCallbacks.push(callback)
  }

  signal(topic: string, body = ''): void {
    this.signals ??= []
    this.signals.push({ topic, body })
  }

  // One turn of the microtask queue for many rows, not one for each.
  async #inLots<Input>(inputs: readonly Input[], change: (input: Input) => unknown): Promise<void> {
    for (let start = 0; start < inputs.length; start += ROWS_AT_ONCE) {
      const some = inputs.length <= ROWS_AT_ONCE ? inputs : inputs.slice(start, start + ROWS_AT_ONCE)
      await this.#whenFree(() => {
        for (const input of some) change(input)
      })
    }
  }

  // Not an async function: the usual case answers with a settled promise and costs one turn of the microtask queue.
  #whenFree<T>(query: () => T): Promise<T> {
    const now = this.#clock.elapsedMs()
    // Before the yield: the query before this one may have taken long, and that is no waiting for something else.
    this.lastQueryAt = now
    if (now - this.#lastYieldAt > YIELD_EVERY_MS) return this.#afterYield(query)
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    try {
      return Promise.resolve(query())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #afterYield<T>(query: () => T): Promise<T> {
    await nextTurn()
    if (this.#ended !== undefined) throw this.#ended
    this.lastQueryAt = this.#lastYieldAt = this.#clock.elapsedMs()
    return query()
  }

  async *#stream(sql: string, parameters: readonly unknown[]): AsyncIterableIterator<QueryResult<unknown>> {
    const rows = await this.#whenFree(() => this.#connection.iterate(sql, parameters))
    this.#streams.push(rows)
    for (;;) {
      const { done, value } = await this.#whenFree(() => rows.next())
      if (done) return
      yield { rows: [value] }
    }
  }
}

const DONE = Promise.resolve()
const ENDED = new Error('The transaction has ended')
