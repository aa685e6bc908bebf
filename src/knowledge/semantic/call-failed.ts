import { AppError } from '../../platform/errors/app-error.ts'

export interface CallFailure {
  isTransient: boolean
  mayBeOfTexts?: boolean
  isOfRate?: boolean
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** A call that brought no vectors, as far as it is known for no fault of the texts. */
export class CallFailed extends AppError {
  /** The same call may succeed soon. */
  readonly isTransient: boolean
  /** There was an answer, and one to other texts may be another. */
  readonly mayBeOfTexts: boolean
  /** Too much was asked for in too short a time, which is the same for every text. */
  readonly isOfRate: boolean
  readonly retryAfterMs: number | undefined

  constructor(message: string, options: CallFailure) {
    super('unavailable', message, { cause: options.cause })
    this.name = 'CallFailed'
    this.isTransient = options.isTransient
    this.mayBeOfTexts = options.mayBeOfTexts ?? false
    this.isOfRate = options.isOfRate ?? false
    this.retryAfterMs = options.retryAfterMs
  }
}
