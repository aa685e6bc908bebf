import type { Duplex } from 'node:stream'
import pg from 'pg'
import { ignoreFailure } from '../errors/ignore-failure.ts'

/**
 * The address as the library is to read it. It takes these words for `verify-full`, and warns at every start that another version of it
 * will not: with us they go on to mean what they do.
 */
export function addressFor(url: string): string {
  return url.includes('uselibpqcompat=')
    ? url
    : url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

// Statements of one connection between two looks at how large the tables have become.
const PLANNED_FOR = 1_000

/**
 * Certificates that the address names are read for every connection, and may be missing while they are replaced. The pool makes
 * connections whenever it likes, where nobody hears that one cannot be made: this one says so when it is to connect.
 *
 * A connection that is lost says so at any moment, also while the pool hands it from one to the next and nobody listens. What is asked of
 * it fails, which is enough; an event without a listener would end the process.
 *
 * Statements that are sent one after the other, without waiting for an answer, go out together: each that goes by itself wakes the
 * server, which costs more than most statements do.
 *
 * The server plans a statement a few times and keeps to that. What is best for a table with ten rows may take forever when it has
 * ten thousand, and until the server looks at it by itself, which may be minutes later, only a connection that asks for it plans anew.
 */
export class PooledClient extends pg.Client {
  readonly #problem: Error | undefined
  #isGathering = false
  #statements = 0

  constructor(config?: pg.ClientConfig) {
    const problem = problemOf(config)
    super(problem === undefined ? config : {})
    this.#problem = problem
    this.on('error', () => {})
  }

  override connect(): Promise<pg.Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void
  override connect(callback?: (error: never, client: pg.Client) => void): Promise<pg.Client> | undefined {
    const problem = this.#problem
    if (callback === undefined) return problem === undefined ? super.connect() : Promise.reject(problem)
    const answer = callback as (error: Error | null, client: pg.Client) => void
    if (problem !== undefined) queueMicrotask(() => answer(problem, this))
    else
      super.connect((error: Error | null) => {
        // NOTE Whoever has no password to answer with leaves the server waiting for it, and the process for the server.
        if (error) ignoreFailure(this.end(), 'the connection is given up')
        answer(error, this)
      })
    return undefined
  }

  override query = ((...args: Parameters<pg.Client['query']>) => {
    this.#gather()
    if (++this.#statements % PLANNED_FOR === 0)
      ignoreFailure(super.query('discard plans'), 'the next statement fails, too')
    return super.query(...args)
  }) as pg.Client['query']

  /** Nobody waits for an answer any longer: all that was asked fails. */
  giveUp(): void {
    this.#stream.destroy()
  }

  get #stream(): Duplex {
    return (this as unknown as { connection: { stream: Duplex } }).connection.stream
  }

  /** What is written from now on goes out when nothing is left to do at this moment. */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => {
      this.#isGathering = false
      stream.uncork()
    })
  }
}

function problemOf(config: pg.ClientConfig | undefined): Error | undefined {
  try {
    new pg.Client(config)
    return undefined
  } catch (error) {
    return error as Error
  }
}
