import { type Clock, sleep } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { isStorageAway } from '../storage/storage-errors.ts'
import { type Backoff, retryDelayMs } from './backoff.ts'
import type { Join } from './job-kind.ts'
import type { Outcome } from './outcome.ts'
import { settle } from './settle.ts'
import type { ClaimedRow } from './store.ts'

interface Settlement {
  row: ClaimedRow
  join: Join
  outcome: Outcome
  resolve(settled: boolean): void
}

const LARGEST_BATCH = 200
const OUTAGE: Backoff = { initialMs: 100, maxMs: 5_000, coefficient: 2, jitter: 0.5 }

/**
 * Records outcomes, as many in one transaction as came up while the one before was being written. While storage is
 * away they wait here: never more than jobs are running, because a job keeps its slot until it is settled.
 */
export class Settler {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #abandoned = new AbortController()
  #waiting: Settlement[] = []
  #busy = false

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
  }

  /** Never rejects. False: not recorded, because the lease was lost or has to run out by itself. */
  settle(row: ClaimedRow, join: Join, outcome: Outcome): Promise<boolean> {
    if (this.#abandoned.signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      this.#waiting.push({ row, join, outcome, resolve })
      if (!this.#busy) void this.#flush()
    })
  }

  /** Time is up: what is not recorded by now is left to its lease. */
  abandon(): void {
    this.#abandoned.abort()
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }

  async #flush(): Promise<void> {
    this.#busy = true
    for (let failures = 0; this.#waiting.length > 0; ) {
      const batch = this.#waiting.splice(0, failures > 0 ? 1 : LARGEST_BATCH)
      try {
        const settled = await this.#write(batch)
        for (const [index, { resolve }] of batch.entries()) resolve(settled[index] as boolean)
        failures = 0
      } catch (error) {
        failures++
        const storageIsAway = isStorageAway(error)
        // NOTE A defect in one settlement must not hold up all others: after a failure they go one by one, and the one
        // that fails alone for another reason than storage is left to its lease.
        if (batch.length === 1 && !storageIsAway) {
          this.#log.error({ err: error, job: batch[0]?.row.id }, 'a job could not be settled; it will run again')
          batch[0]?.resolve(false)
          continue
        }
        if (this.#abandoned.signal.aborted) {
          for (const { resolve } of batch) resolve(false)
          continue
        }
        this.#waiting.unshift(...batch)
        if (storageIsAway) {
          if (failures === 1) this.#log.warn({ err: error }, 'jobs cannot be settled; trying again until that works')
          await sleep(this.#clock, retryDelayMs(failures, OUTAGE), this.#abandoned.signal).catch(() => {})
        }
      }
    }
    this.#busy = false
  }

  #write(batch: Settlement[]): Promise<boolean[]> {
    const now = this.#clock.now()
    return this.#db.write(
      async (tx) => {
        const settled: boolean[] = []
        for (const { row, join, outcome } of batch) settled.push(await settle(tx, row, join, outcome, now))
        return settled
      },
      { isolation: 'read committed' },
    )
  }
}
