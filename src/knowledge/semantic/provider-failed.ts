import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import { CallFailed } from './call-failed.ts'

/** Nothing could be embedded, and it is not storage that failed. */
export class ProviderFailed extends AppError {
  /** For how long it asked to be left alone. */
  readonly retryAfterMs: number

  constructor(cause: AppError) {
    super(cause.code, cause.message, { cause })
    this.name = 'ProviderFailed'
    this.retryAfterMs = (cause instanceof CallFailed ? cause.retryAfterMs : undefined) ?? 0
  }
}

/** What a provider promised; when it fails, whoever awaits it together with others can tell that it was the provider. */
export async function ofProvider<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isAppError(error) ? new ProviderFailed(error) : error
  }
}
