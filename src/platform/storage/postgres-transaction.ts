import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, QueryResult } from 'kysely'
import type pg from 'pg'
import type { Addend, ShardAddend, Transaction } from './database.ts'
import { kyselyOver } from './kysely-over.ts'
import { PendingSums } from './pending-sums.ts'
import type { Statement } from './statement.ts'
import type { Tables } from './tables.ts'

// What is sent without waiting lies in memory until the server has read it.
const MOST_UNANSWERED = 64
// So many transactions can add to a sum at once, if they are lucky. More would make it dearer to read.
const SHARDS = 32

/** Puts one query to the lent connection. */
export type Ask = (query: pg.QueryConfig) => Promise<pg.QueryResult>

/** A transaction on one lent connection; a snapshot is the same without the right to write. */
export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres'
  readonly isTransaction = true
  readonly commitCallbacks: (() => void)[] = []
  readonly signals: { topic: string; body: string }[] = []
  readonly #ask: Ask
  #query: Kysely<Tables> | undefined
  #ended = false
  #cursors = 0
  readonly #unanswered = new Set<Promise<void>>()
  #failure: unknown
  readonly #sums = new PendingSums()
  readonly #shard = Math.floor(Math.random() * SHARDS)

  constructor(ask: Ask) {
    this.#ask = ask
  }

  get query(): Kysely<Tables> {
    this.#query ??= kyselyOver('postgres', {
      execute: (sql, parameters) => this.#execute(sql, parameters),
      stream: (sql, parameters, chunkSize) => this.#stream(sql, parameters, chunkSize),
    })
    return this.#query
  }

  async run<Input extends object, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]> {
    return (await this.#runPrepared(statement, input)).rows
  }

  async change<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number> {
    return (await this.#runPrepared(statement, input)).rowCount ?? 0
  }

  async send<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const answered = this.#runPrepared(statement, input)
      .then(
        () => {},
        (error: unknown) => {
          this.#failure ??= error
        },
      )
      .finally(() => this.#unanswered.delete(answered))
    this.#unanswered.add(answered)
    if (this.#unanswered.size >= MOST_UNANSWERED) await answered
  }

  /** Why one of those that were sent failed, when all of them are answered; undefined when none did. */
  async failureOfSent(): Promise<unknown> {
    await Promise.all(this.#unanswered)
    return this.#failure
  }

  async insert<Input extends object>(statement: Statement<Input, never>, input: Input): Promise<number> {
    const [row] = (await this.#runPrepared(statement, input)).rows
    return Object.values(row)[0] as number
  }

  async changeEach<Input extends object>(statement: Statement<Input, never>, inputs: readonly Input[]): Promise<void> {
    for (const input of inputs) await this.send(statement, input)
    const failure = inputs.length === 0 ? undefined : await this.failureOfSent()
    if (failure !== undefined) throw failure
  }

  async changeCounts<Input extends object>(
    statement: Statement<Input, never>,
    inputs: readonly Input[],
  ): Promise<number[]> {
    const counts: number[] = []
    for (const input of inputs) counts.push(await this.change(statement, input))
    return counts
  }

  async addToSum(statement: Statement<ShardAddend, never>, addend: Addend): Promise<void> {
    this.#assertOpen()
    this.#sums.add(statement, addend)
  }

  async writeSums(): Promise<void> {
    for (const { statement, name, amount } of this.#sums.take('postgres')) {
      await this.send(statement, { name, shard: this.#shard, amount })
    }
  }

  async breathe(): Promise<void> {
    await nextTurn()
    this.#assertOpen()
  }

  afterCommit(callback: () => void): void {
    this.commitCallbacks.push(callback)
  }

  signal(topic: string, body = ''): void {
    this.signals.push({ topic, body })
  }

  end(): void {
    this.#ended = true
  }

  async #runPrepared<Input extends object>(
    statement: Statement<Input, unknown>,
    input: Input,
  ): Promise<pg.QueryResult> {
    this.#assertOpen()
    const { name, sql, bind } = statement.prepared('postgres')
    return this.#ask({ name, text: sql, values: bind(input) })
  }

  async #execute(sql: string, parameters: readonly unknown[]): Promise<QueryResult<unknown>> {
    this.#assertOpen()
    const { rows, rowCount } = await this.#ask({ text: sql, values: parameters as unknown[] })
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
  }

  /** A server-side cursor: at most one chunk of rows is in memory. */
  async *#stream(
    sql: string,
    parameters: readonly unknown[],
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<unknown>> {
    const cursor = `c${++this.#cursors}`
    await this.#execute(`declare ${cursor} no scroll cursor for ${sql}`, parameters)
    for (;;) {
      const chunk = await this.#execute(`fetch ${chunkSize} from ${cursor}`, [])
      yield { rows: chunk.rows }
      if (chunk.rows.length < chunkSize) break
    }
    await this.#execute(`close ${cursor}`, [])
  }

  #assertOpen(): void {
    if (this.#ended) throw new Error('The transaction has ended')
  }
}
