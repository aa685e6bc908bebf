import type { Clock } from '../../platform/clock/clock.ts'
import { sleep } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import type { Settlement } from './run.ts'
import { writeTransitions } from './store-transition.ts'

// What one write takes at most: it shares the writer with everybody else.
const AT_ONCE = 500
// Beyond so many nothing more is attempted until some of them are stored: what is known only here is what a crash repeats.
const MOST_WAITING = 500
const RETRY_MS = 250

/**
 * `lost`: the run was changed by somebody else meanwhile, and this says nothing any more. `refused`: the database does not take
 * this one, though it is there; nothing is stored.
 */
export type Settled = 'stored' | 'lost' | 'refused'

interface Waiting {
  settlement: Settlement
  done: (settled: Settled) => void
}

export interface SettlerOptions {
  db: Database
  clock: Clock
  log: Logger
  /** Called when it is not behind any more. */
  onCaughtUp: () => void
}

/**
 * Stores what came of attempts. One write at a time takes all that ended meanwhile, so the more attempts end, the less
 * each of them costs. Storage that does not answer is asked again until it does: a result is never dropped. One that the database
 * refuses holds up no other one.
 */
export class Settler {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #waiting: Waiting[] = []
  readonly #onCaughtUp: () => void
  #isRunning = false
  #isGivenUp = false

  constructor({ db, clock, log, onCaughtUp }: SettlerOptions) {
    this.#db = db
    this.#onCaughtUp = onCaughtUp
    this.#clock = clock
    this.#log = log
  }

  /** Whether attempts end faster than their results are stored. */
  get isBehind(): boolean {
    return this.#waiting.length >= MOST_WAITING
  }

  settle(settlement: Settlement): Promise<Settled> {
    return new Promise((done) => {
      this.#waiting.push({ settlement, done })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** For a shutdown whose time is over: what could not be stored will be attempted again. */
  giveUp(): void {
    this.#isGivenUp = true
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // The results of one turn of the event loop come one by one.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const wasBehind = this.isBehind
      const batch = this.#waiting.splice(0, AT_ONCE)
      await this.#store(batch)
      if (wasBehind && !this.isBehind) this.#onCaughtUp()
    }
    this.#isRunning = false
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    while (!this.#isGivenUp) {
      try {
        const won = await writeTransitions(
          this.#db,
          batch.map(({ settlement }) => settlement),
        )
        for (const { settlement, done } of batch) done(won.has(settlement.run.runNumber) ? 'stored' : 'lost')
        return
      } catch (error) {
        if (!isStorageAway(error)) return this.#storeParts(batch, error)
        this.#log.error({ err: error, results: batch.length }, 'results of attempts could not be stored yet')
        await sleep(this.#clock, RETRY_MS)
      }
    }
    for (const { done } of batch) done('lost')
  }

  /** Something in it is refused: in ever smaller parts all others are stored. */
  async #storeParts(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [first] = batch
    if (batch.length > 1) for (const part of halves(batch)) await this.#store(part)
    else if (first !== undefined) {
      const { runId } = first.settlement.run
      this.#log.error(
        { err: error, runId },
        'the result of an attempt is refused by the database and tried again later',
      )
      first.done('refused')
    }
  }
}

export function halves<T>(items: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
