import type { AppError } from './app-error.ts'

/**
 * What a log line says about why a request failed, beside the words it was answered with. Where storage is away all requests fail
 * alike, and the disk of the log may be the full one: what it said is enough then, without the places in the program.
 */
export function failureFacts(error: AppError): { err: unknown } | { reason: string | undefined } {
  const { code, cause } = error
  return code === 'unavailable' ? { reason: sayingOf(cause) } : { err: cause ?? error }
}

function sayingOf(cause: unknown): string | undefined {
  const { message, code } = (cause ?? {}) as { message?: string; code?: string }
  return message || code
}
