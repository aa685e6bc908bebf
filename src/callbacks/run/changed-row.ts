import { STATE_NUMBERS, STATUS_NUMBERS, statusOf } from '../state/run-state.ts'
import type { CallbackRunRow } from '../tables.ts'
import type { Settlement } from './run.ts'

/** What a transition makes of the row of its run. */
export type ChangedRow = Pick<
  CallbackRunRow,
  | 'run_number'
  | 'status'
  | 'state'
  | 'attempt'
  | 'transition_count'
  | 'next_attempt_at'
  | 'last_attempt_completed_at'
  | 'closed_at'
  | 'terminate_request_id'
  | 'due_at'
> & { expected_count: number }

export function changedRow({ run, changed, dueAt }: Settlement): ChangedRow {
  const { record } = changed
  return {
    run_number: run.runNumber,
    expected_count: run.record.transitionCount,
    status: STATUS_NUMBERS[statusOf(record.state)],
    state: STATE_NUMBERS[record.state],
    attempt: record.attempt,
    transition_count: record.transitionCount,
    next_attempt_at: record.nextAttemptAt,
    last_attempt_completed_at: record.lastAttemptCompletedAt,
    closed_at: record.closedAt,
    terminate_request_id: record.terminateRequestId,
    due_at: dueAt,
  }
}
