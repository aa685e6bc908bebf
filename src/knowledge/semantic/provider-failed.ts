import { AppError, isAppError } from '../../platform/errors/app-error.ts'

/** Nothing could be embedded, and it is not storage that failed. */
export class ProviderFailed extends AppError {
  constructor(cause: AppError) {
    super(cause.code, cause.message, { cause })
    this.name = 'ProviderFailed'
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
