import type { Clock } from '../../platform/clock/clock.ts'
import { sleep } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { Database } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import type { Settlement } from '../run/run.ts'
import { writeTransitions } from '../run/store-transition.ts'
import { type Settled, writeInParts } from './write-in-parts.ts'

// What one write takes at most: it shares the writer with everybody else.
const AT_ONCE = 500
// Beyond so many nothing more is attempted until some of them are stored: what is known only here is what a crash repeats.
const MOST_WAITING = 500
const RETRY_MS = 250

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
  readonly #outage: OutageLog
  readonly #waiting: Waiting[] = []
  readonly #onCaughtUp: () => void
  #isRunning = false
  #isGivenUp = false

  constructor({ db, clock, log, onCaughtUp }: SettlerOptions) {
    this.#db = db
    this.#onCaughtUp = onCaughtUp
    this.#clock = clock
    this.#log = log
    this.#outage = new OutageLog(log)
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
    const done = new Map(batch.map((waiting) => [waiting.settlement, waiting.done]))
    await writeInParts([...done.keys()], {
      write: (part) => this.#write(part),
      onSettled: (settlement, settled, error) => {
        if (settled === 'refused') {
          const facts = { err: error, runId: settlement.run.runId }
          this.#log.error(facts, 'the result of an attempt is refused by the database and tried again later')
        }
        done.get(settlement)?.(settled)
      },
    })
  }

  async #write(part: readonly Settlement[]): Promise<ReadonlySet<number>> {
    // Of all tries together: one that failed may have stored them all the same.
    const won = new Set<number>()
    while (!this.#isGivenUp) {
      try {
        await writeTransitions(this.#db, part, (some) => {
          for (const runNumber of some) won.add(runNumber)
        })
        this.#outage.over('results of attempts are stored again')
        return won
      } catch (error) {
        if (!isStorageAway(error)) throw error
        this.#outage.tell({ err: error }, 'results of attempts cannot be stored; trying again until that works')
        await sleep(this.#clock, RETRY_MS)
      }
    }
    return won
  }
}
