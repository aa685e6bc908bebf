import { AppError } from '../../platform/errors/app-error.ts'

/** A call that brought no vectors, for no fault of the texts. */
export class CallFailed extends AppError {
  /** The same call may succeed soon. */
  readonly isTransient: boolean
  readonly retryAfterMs: number | undefined

  constructor(message: string, options: { isTransient: boolean; retryAfterMs?: number | undefined; cause?: unknown }) {
    super('unavailable', message, { cause: options.cause })
    this.name = 'CallFailed'
    this.isTransient = options.isTransient
    this.retryAfterMs = options.retryAfterMs
  }
}
