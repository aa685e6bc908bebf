import type { Clock } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import { OutageLog } from '../../../platform/logging/outage-log.ts'
import { diskFull, diskTrouble, isSomeCorruption, isStorageAway } from '../../../platform/storage/storage-errors.ts'

const FAILED = 'The search index cannot be written: check search.db in the data directory, its permissions and its disk'
// One that is damaged again and again, as on a disk that fails, is not made anew without end.
const LEFT_ALONE_MS = 30_000
// A statement may also have met damage of the database itself, where another index does not help: twice as long each time.
const LONGEST_LEFT_ALONE_MS = 3_600_000

/** What keeps the index from being written, when it is a file and not a note. It is logged once, and once more when it is over. */
export class IndexTrouble {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #outage: OutageLog
  #damagedMs = Number.NEGATIVE_INFINITY
  #pauseMs = LEFT_ALONE_MS
  /** What whoever searches is told, until something was written. */
  reason: AppError | undefined

  constructor({ clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock
    this.#log = log
    this.#outage = new OutageLog(log)
  }

  /** Undefined for every other failure. */
  meet(error: unknown): AppError | undefined {
    const reason = reasonOf(error)
    if (reason === undefined) return undefined
    this.#outage.tell({ err: reason.cause ?? reason }, 'the search index cannot be written; trying until it can')
    this.reason = reason
    return reason
  }

  /** Something was written, though maybe not all the way to the disk. */
  ease(): void {
    this.reason = undefined
  }

  end(): void {
    this.reason = undefined
    this.#outage.over('the search index is written again')
  }

  /** Whether the index is to be made anew for what a search found. */
  isWorthAnother(damage: unknown): boolean {
    const sinceMs = this.#clock.elapsedMs() - this.#damagedMs
    if (sinceMs < (isSomeCorruption(damage) ? this.#pauseMs : LEFT_ALONE_MS)) return false
    this.#damagedMs = this.#clock.elapsedMs()
    if (sinceMs > LONGEST_LEFT_ALONE_MS) this.#pauseMs = LEFT_ALONE_MS
    if (isSomeCorruption(damage)) this.#pauseMs = Math.min(LONGEST_LEFT_ALONE_MS, 2 * this.#pauseMs)
    this.#log.warn({ reason: String(damage) }, 'the search index is damaged: it is made anew')
    return true
  }
}

function reasonOf(error: unknown): AppError | undefined {
  if (isStorageAway(error)) return error
  const trouble = diskTrouble(error)
  if (trouble === 'full') return diskFull(error)
  return trouble === 'failed' ? unavailable(FAILED, error) : undefined
}

export function behind(): AppError {
  return unavailable('The search has not come to the latest changes yet: repeat the request')
}

export function beingMade(cause: unknown): AppError {
  return unavailable('The search index was damaged and is being made anew: repeat the request', cause)
}

export function stillDamaged(cause: unknown): AppError {
  const message =
    'The search index, or the database file, is damaged: run "commonplace doctor", and repeat the request later'
  return unavailable(message, cause)
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { headers: { 'retry-after': '5' }, cause })
}
