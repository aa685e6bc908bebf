import { ERROR_CODES, type ErrorCode } from './codes.ts'

export interface AppErrorOptions {
  /** Every problem found in one pass, one sentence each. `message` alone when absent. */
  problems?: string[]
  /** Machine-readable extras; only the surfaces that document such a member write it out. */
  details?: unknown[]
  /** Response headers that belong to the error, such as `Retry-After`. */
  headers?: Record<string, string>
  /** For the log only; never leaves the process. */
  cause?: unknown
}

/**
 * The one error that may cross a feature's border. `message` is written for the caller and holds no
 * internals; what really went wrong travels in `cause` and ends in the log.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly problems: string[]
  readonly details: unknown[]
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.problems = options.problems ?? [message]
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
  }

  get httpStatus(): number {
    return ERROR_CODES[this.code].http
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}
