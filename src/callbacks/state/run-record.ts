import type { Micros } from '../../platform/clock/clock.ts'
import { isTerminal, type RunState, type RunStatus, statusOf } from './run-state.ts'
import { cutDuration } from './schedule-to-close.ts'

/** What a caller asked for on Start; members that are absent or 0 follow the server's policy at each decision. */
export interface GivenRetryPolicy {
  readonly initialMicros?: number
  readonly maximumMicros?: number
  readonly coefficient?: number
  readonly maximumAttempts?: number
}

/** The slim part of a run: all that a transition looks at. Failures lie apart, and no transition needs the old ones. */
export interface RunRecord {
  readonly state: RunState
  /** Completed attempts; also the tag of the attempt or backoff timer that is due next. */
  readonly attempt: number
  readonly transitionCount: number
  readonly createdAt: Micros
  /** When schedule-to-close runs out. */
  readonly deadlineAt: Micros | null
  /** While BACKING_OFF, and in SCHEDULED when the first attempt is put off. */
  readonly nextAttemptAt: Micros | null
  readonly lastAttemptCompletedAt: Micros | null
  readonly closedAt: Micros | null
  readonly terminateRequestId: string | null
  readonly retryPolicy: GivenRetryPolicy | null
}

export interface NewRun {
  /** Schedule-to-close as `scheduleToClose` answers it. */
  readonly timeoutMicros: number | null
  readonly startDelayMicros: number
  readonly retryPolicy: GivenRetryPolicy | null
}

/** T1. */
export function startRun(run: NewRun, now: Micros): RunRecord {
  const firstAt = now + cutDuration(run.startDelayMicros)
  return {
    state: 'SCHEDULED',
    attempt: 0,
    transitionCount: 1,
    createdAt: now,
    deadlineAt: run.timeoutMicros === null ? null : now + run.timeoutMicros,
    nextAttemptAt: firstAt > now ? firstAt : null,
    lastAttemptCompletedAt: null,
    closedAt: null,
    terminateRequestId: null,
    retryPolicy: run.retryPolicy,
  }
}

/** Whether the first attempt is still put off. Its time comes without a transition, so only the clock can tell. */
export function isDelayed(record: RunRecord, now: Micros): boolean {
  return record.state === 'SCHEDULED' && record.nextAttemptAt !== null && record.nextAttemptAt > now
}

export function isOverdue(record: RunRecord, now: Micros): boolean {
  return !isTerminal(record.state) && record.deadlineAt !== null && record.deadlineAt <= now
}

/**
 * Whether the queued attempt may be made now. `stale`: made for an earlier attempt or a state that is gone, to be
 * dropped. `early`: to be queued again for `nextAttemptAt`. `overdue`: the timeout comes first.
 */
export function admitAttempt(record: RunRecord, tag: number, now: Micros): 'go' | 'stale' | 'early' | 'overdue' {
  if (record.state !== 'SCHEDULED' || record.attempt !== tag) return 'stale'
  if (isOverdue(record, now)) return 'overdue'
  return isDelayed(record, now) ? 'early' : 'go'
}

/** How long an attempt that begins now may take: never beyond schedule-to-close. */
export function attemptTimeoutMicros(record: RunRecord, requestTimeoutMicros: number, now: Micros): number {
  return record.deadlineAt === null
    ? requestTimeoutMicros
    : Math.max(0, Math.min(requestTimeoutMicros, record.deadlineAt - now))
}

export interface ShownState {
  status: RunStatus
  state: RunState | 'BLOCKED'
  /** Empty unless BLOCKED. */
  blockedReason: string
  nextAttemptAt: Micros | null
}

/** What a reader sees. `blockedReason` says why the destination takes no attempts, null when it does. */
export function shownState(record: RunRecord, blockedReason: string | null, now: Micros): ShownState {
  const delayed = isDelayed(record, now)
  const nextAttemptAt = record.state === 'BACKING_OFF' || delayed ? record.nextAttemptAt : null
  const status = statusOf(record.state)
  // A run that waits for its own start is not held back by anybody.
  return record.state === 'SCHEDULED' && !delayed && blockedReason !== null
    ? { status, state: 'BLOCKED', blockedReason, nextAttemptAt }
    : { status, state: record.state, blockedReason: '', nextAttemptAt }
}
