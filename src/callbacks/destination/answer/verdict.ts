import { shortText } from './short-text.ts'

/** Of its message. */
export const MAX_VERDICT_BYTES = 4096

/** What an attempt came to. */
export interface Verdict {
  result: 'success' | 'retryable' | 'terminal'
  /** The receiver's class of error; empty when it named none. */
  errorType: string
  /** For people; empty after a success. */
  message: string
  /** For metrics: one of a small set, whatever receivers answer. */
  label: string
  retryAfterMs?: number
}

export const SUCCESS: Verdict = { result: 'success', errorType: '', message: '', label: 'success' }

export function retryableFailure(message: string, label = 'unknown-error'): Verdict {
  return { result: 'retryable', errorType: '', message: shortText(message, MAX_VERDICT_BYTES), label }
}

export function terminalFailure(message: string): Verdict {
  return { ...retryableFailure(message), result: 'terminal' }
}

/** For the log of the server: without the receiver's words, which may repeat what it was sent. */
export function loggedProblem({ errorType, message }: Verdict): string {
  return errorType === '' ? message : `handler error (${errorType})`
}

/** For the log of attempts, which has room for any type that a receiver names. */
export function attemptOutcome({ errorType, label }: Verdict): string {
  return errorType === '' ? label : `handler-error:${errorType}`
}
