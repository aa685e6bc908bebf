/**
 * Group commit: the one writer of a SQLite file.
 *
 * Operations wait in a queue. The writer opens a transaction, runs all that wait, commits, syncs the log once and only
 * then answers all of them. While the disk works the event loop goes on, and the next batch gathers. Therefore
 *
 * - nothing is answered before it is on disk;
 * - 64 clients share an fsync that each of them would otherwise pay for (`npm run bench -- writes`);
 * - an operation that fails is rolled back alone.
 *
 * The last point has two gears. A batch first runs without savepoints, which cost a third of a small write. When one
 * of its operations fails, the whole transaction is rolled back and the batch runs again, each operation inside its
 * own savepoint; the next few batches keep them, so that a caller who fails on purpose gains nothing.
 *
 * A slow operation cannot starve the rest. One that holds the floor longer than DEMOTE_AFTER_MS is undone, the batch
 * commits without it, and it runs again in a commit of its own (the `alone` lane, which takes turns with the
 * batches). One that waits for something other than its own queries is refused after STALL_MS: while it waits,
 * nobody can write.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, holdProcess, sleep } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import { OutageLog } from '../logging/outage-log.ts'
import type { Transaction, WriteOptions } from './database.ts'
import { PendingSums } from './pending-sums.ts'
import type { Signals } from './signals.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteLog } from './sqlite-log.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'
import { isSqliteBusy, toStorageError } from './storage-errors.ts'

// A batch ends when it is this old or this long, so that the first in it does not wait for the last to arrive.
const BATCH_MS = 25
const BATCH_OPERATIONS = 1_000
const DEMOTE_AFTER_MS = 25
const STALL_MS = 2_000
const WATCH_EVERY_MS = 10
const CAREFUL_BATCHES = 16
// So many do not wait until the disk has the batch before them: they are committed meanwhile.
const WORTH_A_BATCH = 32
// Another process (a CLI command beside the server) may hold the write lock for a moment.
const LOCK_WAIT_MS = 10_000
const LOCK_RETRY_MS = 5

interface Operation {
  work: (tx: Transaction) => Promise<unknown>
  resolve: (value: never) => void
  reject: (reason: unknown) => void
  alone: boolean
}

type Outcome =
  | { operation: Operation; tx: SqliteTransaction; value: unknown }
  | { operation: Operation; error: unknown }

const DEMOTED = Symbol('demoted')

export interface SqliteWriterOptions {
  connection: SqliteConnection
  /** That of the connection's file. */
  walLog: SqliteLog
  clock: Clock
  signals: Signals
  log: Logger
}

export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #walLog: SqliteLog
  readonly #clock: Clock
  readonly #signals: Signals
  readonly #log: Logger
  readonly #outage: OutageLog
  readonly #sums = new PendingSums()
  readonly #between: (() => void)[] = []
  readonly #quick: Operation[] = []
  readonly #alone: Operation[] = []
  #running: Promise<void> | undefined
  /** Until the last commit is on disk and answered. */
  #syncing: Promise<void> | undefined
  #onEnough: (() => void) | undefined
  /** The disk did not take a commit: what is in the log goes into the file before the next one. */
  #isLogUnsafe = false
  #current: { tx: SqliteTransaction; alone: boolean } | undefined
  #carefulBatches = 0
  #closed = false

  constructor({ connection, walLog, clock, signals, log }: SqliteWriterOptions) {
    this.#connection = connection
    this.#walLog = walLog
    // NOTE Nothing is answered before it is on disk: the writer itself sees to that, see SqliteLog.
    connection.handle.exec('pragma synchronous = normal')
    this.#clock = clock
    this.#signals = signals
    this.#log = log
    this.#outage = new OutageLog(log)
  }

  write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new AppError('unavailable', 'The database is closed'))
    return new Promise<T>((resolve, reject) => {
      const operation = { work, resolve, reject, alone: options.alone === true }
      const lane = operation.alone ? this.#alone : this.#quick
      lane.push(operation)
      this.#running ??= this.#pump()
      if (this.#quick.length >= WORTH_A_BATCH) this.#onEnough?.()
    })
  }

  /** Runs between two commits, when no transaction is open. */
  between<T>(work: (connection: SqliteConnection) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new AppError('unavailable', 'The database is closed'))
    return new Promise<T>((resolve, reject) => {
      this.#between.push(() => {
        try {
          resolve(work(this.#connection))
        } catch (error) {
          reject(error)
        }
      })
      this.#running ??= this.#pump()
    })
  }

  /** Finishes what was accepted and refuses the rest. */
  async drain(): Promise<void> {
    this.#closed = true
    await this.#running
    await this.#syncing
  }

  close(): void {
    this.#walLog.close()
    this.#connection.close()
  }

  async #pump(): Promise<void> {
    const stopWatching = this.#watch()
    try {
      // One turn of the event loop first: all requests that arrived together share the first commit.
      await nextTurn()
      while (this.#quick.length > 0 || this.#alone.length > 0 || this.#between.length > 0) {
        let batch = this.#quick.splice(0, BATCH_OPERATIONS)
        while (batch.length > 0) batch = await this.#commitTogether(batch, this.#carefulBatches > 0)
        const long = this.#alone.shift()
        // Without a savepoint: there is nobody else to spare, and inside one SQLite keeps a copy of every page of every statement.
        if (long !== undefined) await this.#commitTogether([long], false)
        this.#between.shift()?.()
        await this.#gather()
        // Those just answered may send their next write now, and it joins the next batch.
        await nextTurn()
      }
    } finally {
      stopWatching()
      this.#running = undefined
    }
  }

  /** The more share a commit, the less each of them costs: they wait for one another as long as the disk is busy anyway. */
  async #gather(): Promise<void> {
    if (this.#syncing === undefined || this.#quick.length >= WORTH_A_BATCH) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onEnough = resolve
    await Promise.race([this.#syncing, promise])
    this.#onEnough = undefined
  }

  /** Commits as many of the batch as its time allows and answers them; returns the ones it did not come to. */
  async #commitTogether(batch: Operation[], careful: boolean): Promise<Operation[]> {
    if (batch.length === 0) return []
    if (careful && this.#carefulBatches > 0) this.#carefulBatches--
    const outcomes: Outcome[] = []
    let next = 0
    try {
      await this.#begin()
    } catch (error) {
      for (const { reject } of batch) reject(toStorageError(error))
      return []
    }
    try {
      const endAt = this.#clock.elapsedMs() + BATCH_MS
      do {
        const operation = batch[next++] as Operation
        const outcome = await this.#runOne(operation, careful)
        if (outcome === DEMOTED) {
          // Its answer will come from a commit of its own.
          batch = batch.toSpliced(--next, 1)
          this.#alone.push({ ...operation, alone: true })
        } else outcomes.push(outcome)
        if (!careful && (outcome === DEMOTED || 'error' in outcome)) {
          this.#rollBack()
          if (operation.alone && outcome !== DEMOTED) {
            this.#answer(outcome)
            return []
          }
          this.#carefulBatches = CAREFUL_BATCHES
          return this.#commitTogether(batch, true)
        }
      } while (next < batch.length && this.#clock.elapsedMs() < endAt)
      this.#sums.write(this.#connection)
      this.#connection.execute('commit', [])
    } catch (error) {
      this.#abandon(batch.slice(0, next), error)
      return batch.slice(next)
    }
    await this.#answerWhenDurable(outcomes)
    return batch.slice(next)
  }

  /** In the order of the commits; ends as soon as the disk has the one before. */
  async #answerWhenDurable(outcomes: readonly Outcome[]): Promise<void> {
    await this.#syncing
    // It lies in the log behind one that may be missing there, and would be lost with that one.
    if (this.#isLogUnsafe) return this.#refuse(outcomes, new Error('The disk did not take the change before it'))
    try {
      const synced = this.#walLog.sync()
      if (synced === undefined) this.#answerAll(outcomes)
      else this.#syncing = this.#answerAfter(synced, outcomes)
    } catch (error) {
      this.#refuse(outcomes, error)
    }
  }

  async #answerAfter(synced: Promise<void>, outcomes: readonly Outcome[]): Promise<void> {
    try {
      await synced
      this.#answerAll(outcomes)
    } catch (error) {
      this.#refuse(outcomes, error)
    }
    // Whoever commits next waits for this one first, so there is no other yet.
    this.#syncing = undefined
  }

  #answerAll(outcomes: readonly Outcome[]): void {
    this.#outage.over('the disk takes what is written again')
    for (const outcome of outcomes) this.#answer(outcome)
  }

  /** Whether they are on disk nobody knows. */
  #refuse(outcomes: readonly Outcome[], error: unknown): void {
    this.#isLogUnsafe = true
    this.#outage.tell({ err: error, writes: outcomes.length }, 'the disk did not take what was written')
    for (const outcome of outcomes) {
      outcome.operation.reject(notTaken(error))
      // Whoever reads sees it already, and nothing is written behind it before it is safe.
      if ('tx' in outcome) this.#tell(outcome.tx)
    }
  }

  async #runOne(operation: Operation, careful: boolean): Promise<Outcome | typeof DEMOTED> {
    const tx = new SqliteTransaction(this.#connection, this.#clock, this.#sums)
    this.#current = { tx, alone: operation.alone }
    if (careful) this.#connection.execute('savepoint operation', [])
    try {
      const value = await tx.settle(operation.work)
      tx.end()
      if (careful) {
        // With the operation, so that what is pending is never that of two when one of them fails.
        this.#sums.write(this.#connection)
        this.#connection.execute('release operation', [])
      }
      return { operation, tx, value }
    } catch (error) {
      tx.end()
      this.#sums.clear()
      // A full disk makes SQLite roll back the whole transaction by itself; then the batch is lost, not this one alone.
      if (!this.#connection.inTransaction) throw error
      if (careful) {
        this.#connection.execute('rollback to operation', [])
        this.#connection.execute('release operation', [])
      }
      return error === DEMOTED ? DEMOTED : { operation, error }
    } finally {
      this.#current = undefined
    }
  }

  /** A failed operation waits for the commit, too: what it read may have been written by one before it in the batch. */
  #answer(outcome: Outcome): void {
    if ('error' in outcome) {
      outcome.operation.reject(toStorageError(outcome.error))
      return
    }
    outcome.operation.resolve(outcome.value as never)
    this.#tell(outcome.tx)
  }

  #tell({ commitCallbacks, signals }: SqliteTransaction): void {
    for (const callback of commitCallbacks ?? []) this.#guard(callback)
    for (const { topic, body } of signals ?? []) this.#signals.emit(topic, body)
  }

  // NOTE A defect in a callback must not stop the writer: the change is durable and the next ones are waiting.
  #guard(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#log.error({ err: error }, 'a callback after a commit failed')
    }
  }

  #abandon(operations: Operation[], error: unknown): void {
    try {
      this.#rollBack()
    } catch (failure) {
      // The next commit tries again before it begins.
      this.#log.error({ err: failure }, 'a change that failed could not be rolled back')
    }
    for (const operation of operations) operation.reject(toStorageError(error))
  }

  #rollBack(): void {
    this.#sums.clear()
    if (this.#connection.inTransaction) this.#connection.execute('rollback', [])
  }

  async #begin(): Promise<void> {
    const giveUpAt = this.#clock.elapsedMs() + LOCK_WAIT_MS
    for (;;) {
      try {
        this.#rollBack()
        if (this.#isLogUnsafe) this.#emptyLog()
        this.#connection.execute('begin immediate', [])
        return
      } catch (error) {
        if (!isSqliteBusy(error) || this.#clock.elapsedMs() > giveUpAt) throw error
        // The clock's timers keep nobody alive, and a command may have nothing else that does.
        const letGo = holdProcess()
        await sleep(this.#clock, LOCK_RETRY_MS).finally(letGo)
      }
    }
  }

  /** SQLite syncs the log, copies it into the file, syncs that, and begins the log anew. */
  #emptyLog(): void {
    const [row] = this.#connection.execute('pragma wal_checkpoint(truncate)', []).rows as { busy: number }[]
    if (row?.busy !== 0) throw notTaken(new Error('The log cannot be emptied while others read from it'))
    this.#isLogUnsafe = false
  }

  #watch(): () => void {
    const check = () => {
      this.#checkCurrent()
      cancel = this.#clock.after(WATCH_EVERY_MS, check)
    }
    let cancel = this.#clock.after(WATCH_EVERY_MS, check)
    return () => cancel()
  }

  #checkCurrent(): void {
    if (this.#current === undefined) return
    const { tx, alone } = this.#current
    const now = this.#clock.elapsedMs()
    if (!alone && now - tx.startedAt > DEMOTE_AFTER_MS) tx.end(DEMOTED)
    else if (alone && now - tx.lastQueryAt > STALL_MS) tx.end(stalled())
  }
}

function notTaken(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'The disk did not confirm the change, which may be there or not: check the disk of the data directory',
    { cause, headers: { 'retry-after': '5' } },
  )
}

function stalled(): AppError {
  return new AppError('internal', 'The change took too long and was undone', {
    cause: new Error('A write transaction awaited something other than its own queries'),
  })
}
