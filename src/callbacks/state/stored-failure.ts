import type { RunState } from './run-state.ts'

/** The failures that the server makes itself, in the JSON form of the Failure message. */
export type StoredFailure =
  | { readonly message: string; readonly applicationFailureInfo: { readonly nonRetryable: boolean } }
  | { readonly message: string; readonly terminatedFailureInfo: { readonly identity: string } }
  | {
      readonly message: string
      readonly timeoutFailureInfo: { readonly timeoutType: 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE' }
    }

/** Of its message. */
export const MAX_FAILURE_BYTES = 4096

/** `nonRetryable` speaks of the answer, not of the run: it is false in the last failure of a run that used up its attempts. */
export function attemptFailure(message: string, nonRetryable: boolean): StoredFailure {
  return { message: cutMessage(message), applicationFailureInfo: { nonRetryable } }
}

export function terminatedFailure(reason: string, identity: string): StoredFailure {
  return {
    message: cutMessage(reason === '' ? 'callback execution terminated' : reason),
    terminatedFailureInfo: { identity: identity.toWellFormed() },
  }
}

export function timeoutFailure(): StoredFailure {
  return {
    message: 'callback execution timed out',
    timeoutFailureInfo: { timeoutType: 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE' },
  }
}

/** The longest beginning of the text that fits, never half a character. Protobuf strings hold no lone surrogates. */
export function cutMessage(message: string): string {
  // No character takes less than a byte: what lies behind needs no encoding to be dropped.
  const bytes = Buffer.from(message.slice(0, MAX_FAILURE_BYTES + 1).toWellFormed())
  if (bytes.length <= MAX_FAILURE_BYTES) return bytes.toString()
  let end = MAX_FAILURE_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

export type Outcome<Failure> = { success: Record<string, never> } | { failure: Failure }

/** Whether delivery worked, which is not what was delivered. Null while running. */
export function runOutcome<Failure>(
  state: RunState,
  failures: { lastAttempt: Failure | null; terminal: Failure | null },
): Outcome<Failure> | null {
  switch (state) {
    case 'SCHEDULED':
    case 'BACKING_OFF':
      return null
    case 'SUCCEEDED':
      return { success: {} }
    case 'FAILED':
      return { failure: stored(failures.lastAttempt, state) }
    case 'TIMED_OUT':
    case 'TERMINATED':
      return { failure: stored(failures.terminal, state) }
  }
}

function stored<Failure>(failure: Failure | null, state: RunState): Failure {
  if (failure === null) throw new Error(`A run is ${state} without the failure that made it so.`)
  return failure
}
