/**
 * The states a run is stored in. STANDBY is left inside the creating transaction and BLOCKED is derived on read, so
 * neither is ever stored.
 */
export const RUN_STATES = ['SCHEDULED', 'BACKING_OFF', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'TERMINATED'] as const

export type RunState = (typeof RUN_STATES)[number]
export type RunStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TERMINATED'

/** Numbers of `CallbackState`, of what is stored and of what a reader may see. */
export const STATE_NUMBERS = {
  SCHEDULED: 2,
  BACKING_OFF: 3,
  FAILED: 4,
  SUCCEEDED: 5,
  BLOCKED: 6,
  TERMINATED: 7,
  TIMED_OUT: 8,
} as const satisfies Record<RunState | 'BLOCKED', number>

/** Numbers of `CallbackExecutionStatus`. */
export const STATUS_NUMBERS = {
  RUNNING: 1,
  SUCCEEDED: 2,
  FAILED: 3,
  TERMINATED: 4,
} as const satisfies Record<RunStatus, number>

const STATUS_OF = {
  SCHEDULED: 'RUNNING',
  BACKING_OFF: 'RUNNING',
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMED_OUT: 'FAILED',
  TERMINATED: 'TERMINATED',
} as const satisfies Record<RunState, RunStatus>

export function statusOf(state: RunState): RunStatus {
  return STATUS_OF[state]
}

export function isTerminal(state: RunState): boolean {
  return STATUS_OF[state] !== 'RUNNING'
}
