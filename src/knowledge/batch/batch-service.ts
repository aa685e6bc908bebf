import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { detailsInBatch } from '../malformed.ts'
import { type NoteWork, type Writer, writeIn } from '../note/write-transaction.ts'
import { requireProject } from '../project/look-up.ts'
import { type Done, workOf } from './batch-work.ts'
import type { BatchOperation } from './schema-batch.ts'

/** What became of one operation. */
export type Outcome = Done | { error: unknown }

// Well below the time after which an Idempotency-Key counts as abandoned; and an atomic one lets nobody else write meanwhile.
export const LONGEST_MS = 30_000

export class BatchService {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  /**
   * Each in a transaction of its own, in order; one that fails does not stop the others. `last` ends each of them and knows all before it.
   * With `goesOnLater` storage that is away does stop them, and throws: a repeat does the rest, and learns whether the one that
   * was under way is done.
   */
  async runEach(
    writer: Writer,
    projectId: string,
    operations: readonly BatchOperation[],
    last: (tx: Transaction, outcomes: readonly Outcome[]) => Promise<void> = async () => {},
    { goesOnLater = false } = {},
  ): Promise<Outcome[]> {
    const { db, clock, settings } = this.#deps
    await requireProject(db, projectId)
    const { promise: end, resolve: ring } = Promise.withResolvers<void>()
    const cancel = clock.after(LONGEST_MS, ring)
    const refuseLate = this.#deadline()
    const outcomes: Outcome[] = []
    for (const operation of operations) {
      try {
        refuseLate()
        const work = await workOf(operation, settings)
        const run = (begin: () => void) =>
          writeIn(this.#deps, writer, projectId, async (tx, context) => {
            begin()
            const done = await work(tx, context)
            await last(tx, [...outcomes, done])
            return done
          })
        outcomes.push(await unlessNotBegun(run, end))
      } catch (error) {
        if (goesOnLater && isStorageAway(error)) {
          cancel()
          throw error
        }
        outcomes.push({ error })
      }
    }
    cancel()
    return outcomes
  }

  /**
   * All in one transaction, which `last` ends. Throws the error of the first that fails, which names it; nothing was changed
   * then.
   */
  async runAtomically(
    writer: Writer,
    projectId: string,
    operations: readonly BatchOperation[],
    last: (tx: Transaction, done: readonly Done[]) => Promise<void> = async () => {},
  ): Promise<Done[]> {
    const works = await this.#prepare(operations)
    const refuseLate = this.#deadline()
    return writeIn(
      this.#deps,
      writer,
      projectId,
      async (tx, context) => {
        const done: Done[] = []
        for (const [index, work] of works.entries()) {
          try {
            refuseLate()
            done.push(await work(tx, context))
          } catch (error) {
            throw isAppError(error) ? undone(error, index) : error
          }
        }
        await last(tx, done)
        return done
      },
      { alone: true },
    )
  }

  /** Up to the first that can be told to fail, which then does so in its turn: one before it may fail, too. */
  async #prepare(operations: readonly BatchOperation[]): Promise<NoteWork<Done>[]> {
    const works: NoteWork<Done>[] = []
    for (const operation of operations) {
      try {
        works.push(await workOf(operation, this.#deps.settings))
      } catch (error) {
        works.push(() => Promise.reject(error))
        break
      }
      // Reading a long text takes a while.
      await nextTurn()
    }
    return works
  }

  #deadline(): () => void {
    const { clock } = this.#deps
    const endAt = clock.elapsedMs() + LONGEST_MS
    return () => {
      if (clock.elapsedMs() >= endAt) throw tooLate()
    }
  }
}

/** What waits for others until the end and was not begun by then never is: the caller need not wait for longer. */
async function unlessNotBegun<T>(run: (begin: () => void) => Promise<T>, end: Promise<void>): Promise<T> {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  let state: 'waiting' | 'begun' | 'given up' = 'waiting'
  const running = run(() => {
    if (state === 'given up') throw waitedTooLong()
    state = 'begun'
    resolve()
  })
  await Promise.race([begun, running, end])
  if (state !== 'waiting') return running
  state = 'given up'
  ignoreFailure(running, 'what was not begun in time is refused')
  throw waitedTooLong()
}

function tooLate(): AppError {
  return new AppError('deadline_exceeded', `The batch ran for ${LONGEST_MS / 1_000} seconds: send fewer operations`)
}

function waitedTooLong(): AppError {
  const seconds = LONGEST_MS / 1_000
  return new AppError(
    'deadline_exceeded',
    `Other changes of the project kept this one waiting until the ${seconds} seconds of the batch were over: send it again`,
  )
}

function undone(error: AppError, index: number): AppError {
  const { code, message, details, headers, cause } = error
  return new AppError(code, `operations[${index}]: ${message} (nothing was changed)`, {
    details: [...detailsInBatch(details, index), { index }],
    headers,
    cause,
  })
}
