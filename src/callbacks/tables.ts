import type { Generated, Selectable } from 'kysely'
import type { Micros } from '../platform/clock/clock.ts'
import type { Id } from '../platform/ids/uuid.ts'
import type { Flag } from '../platform/storage/tables.ts'
import type { FieldType } from './query/fields.ts'

export interface CallbackDestinationsTable {
  id: Generated<number>
  namespace_id: Id<'Namespace'>
  /** `scheme://host[:port]`. */
  destination: string
  /** Null in both: as the settings say. */
  concurrency: number | null
  rps: number | null
  paused: Generated<Flag>
  last_success_at: Micros | null
  last_failure_at: Micros | null
  last_failure_message: string | null
}

/** The slim part of a run: what the scheduler and lists read. */
export interface CallbackRunsTable {
  run_number: Generated<number>
  namespace_id: Id<'Namespace'>
  callback_id: string
  run_id: string
  request_id: string
  destination_id: number
  /** Number of `CallbackExecutionStatus`. */
  status: number
  /** Number of `CallbackState`. */
  state: number
  attempt: number
  transition_count: number
  created_at: Micros
  deadline_at: Micros | null
  next_attempt_at: Micros | null
  last_attempt_completed_at: Micros | null
  closed_at: Micros | null
  terminate_request_id: string | null
  /** JSON of a GivenRetryPolicy. */
  retry_policy: string | null
  /** Schedule-to-close as given, after capping. */
  timeout_micros: number | null
  /**
   * When somebody has to look at it. SCHEDULED: since when its attempt is due, or the end of the lease; BACKING_OFF: when
   * that ends; closed: never.
   */
  due_at: Micros | null
  /** PostgreSQL only: the process that makes the attempt. */
  lease_owner: string | null
  /** `closed_at`, and after every time while it is running. */
  sort_at: Micros
}

export interface CallbackInputsTable {
  run_number: number
  search_attributes: Uint8Array | null
  callback: Uint8Array
  completion: Uint8Array
}

export interface CallbackFailuresTable {
  run_number: number
  /** JSON of a StoredFailure each. */
  last_attempt: string | null
  terminal: string | null
}

export interface CallbackAttemptsTable {
  run_number: number
  /** 1 is the first. */
  attempt: number
  started_at: Micros
  ended_at: Micros
  outcome: string
  status_code: number | null
  error_type: string
  message: string
  response_snippet: string
  address: string | null
}

export interface CallbackAttributesTable {
  run_number: number
  name: string
  /** Among the values of a list. */
  place: number
  type: FieldType
  text_value: string | null
  number_value: bigint | number | null
}

/** Replays of many runs. */
export interface CallbackReplaysTable {
  id: Id<'Replay'>
  namespace_id: Id<'Namespace'>
  request_id: string
  query: string
  /** JSON object, name to type: the attributes that the query may name, as they were declared then. */
  search_attributes: string
  /** What closed later, or was started later, is not replayed. */
  closed_until: Micros
  run_number_until: number
  matched: number
  started: number
  failed: number
  created_at: Micros
  finished_at: Micros | null
}

/** Runs of a replay whose callback was running when their turn came. */
export interface CallbackWaitingReplaysTable {
  replay_id: Id<'Replay'>
  run_number: number
}

export type CallbackRunRow = Selectable<CallbackRunsTable>

declare module '../platform/storage/tables.ts' {
  interface Tables {
    callback_destinations: CallbackDestinationsTable
    callback_runs: CallbackRunsTable
    callback_inputs: CallbackInputsTable
    callback_failures: CallbackFailuresTable
    callback_attempts: CallbackAttemptsTable
    callback_attributes: CallbackAttributesTable
    callback_replays: CallbackReplaysTable
    callback_waiting_replays: CallbackWaitingReplaysTable
  }
}
