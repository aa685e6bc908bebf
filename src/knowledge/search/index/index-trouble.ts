import type { Clock } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import { OutageLog } from '../../../platform/logging/outage-log.ts'
import { diskTrouble, isSomeCorruption, isStorageAway } from '../../../platform/storage/storage-errors.ts'

const WORDS = {
  full: 'The disk that holds the data directory is full: free some space and repeat the request',
  failed: 'The search index cannot be written: check search.db in the data directory, its permissions and its disk',
}
// An index that was made anew and seems to be damaged again so soon is not what is damaged.
const DAMAGED_AGAIN_MS = 600_000
// One that is, as on a disk that fails, is not made anew without end.
const LEFT_ALONE_MS = 30_000

/** What keeps the index from being written, when it is a file and not a note. It is logged once, and once more when it is over. */
export class IndexTrouble {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #outage: OutageLog
  #damagedMs = Number.NEGATIVE_INFINITY
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

  /** What is to be done about what a search found. `database`: it is not the index that is damaged. */
  judge(damage: unknown): 'make anew' | 'wait' | 'database' {
    const isUnsure = isSomeCorruption(damage)
    const now = this.#clock.elapsedMs()
    if (now - this.#damagedMs < (isUnsure ? DAMAGED_AGAIN_MS : LEFT_ALONE_MS)) return isUnsure ? 'database' : 'wait'
    this.#damagedMs = now
    this.#log.warn({ reason: String(damage) }, 'the search index is damaged: it is made anew')
    return 'make anew'
  }
}

function reasonOf(error: unknown): AppError | undefined {
  if (isStorageAway(error)) return error
  const trouble = diskTrouble(error)
  return trouble === undefined ? undefined : unavailable(WORDS[trouble], error)
}

export function behind(): AppError {
  return unavailable('The search has not come to the latest changes yet: repeat the request')
}

export function beingMade(cause: unknown): AppError {
  return unavailable('The search index was damaged and is being made anew: repeat the request', cause)
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { headers: { 'retry-after': '5' }, cause })
}
