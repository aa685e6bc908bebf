import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { AttributeRow } from '../query/attribute-rows.ts'
import type { Changed } from '../state/run-event.ts'
import type { RunRecord } from '../state/run-record.ts'
import type { StoredFailure } from '../state/stored-failure.ts'
import type { Sendable } from './sendable.ts'

/** A run as it was read: its names, where it goes, and all that a transition looks at. */
export interface StoredRun {
  /** Ours alone; ascending, never given twice. */
  readonly runNumber: number
  readonly namespaceId: Id<'Namespace'>
  readonly callbackId: string
  readonly runId: string
  readonly requestId: string
  readonly destinationId: number
  /** Schedule-to-close as given, after capping. */
  readonly timeoutMicros: number | null
  readonly record: RunRecord
}

/** Callback and completion, each: what is larger is read when it is sent, instead of waiting in memory. */
export const SMALL_INPUT_BYTES = 4_096
/** What is made of a small completion may be larger: a failure has its causes many times. */
export const SMALL_BODY_BYTES = 2 * SMALL_INPUT_BYTES

/**
 * A run whose attempt is due. Slim: many of them lie in memory. What is sent is read when it is, and dropped by who sends it.
 */
export interface WaitingRun extends StoredRun {
  /** Of one that was just started, and is small: it need not be read again. */
  sendable?: Sendable | undefined
  /** Of one that was taken from the database, and is small. */
  input?: RunInput | undefined
  /** How large its completion is; absent when that shows only once it is read. */
  readonly completionBytes?: number
  /** PostgreSQL: from then on another process may attempt it. */
  readonly leasedUntil?: Micros
}

export interface RunInput {
  /** As the caller gave it: encryption is not the store's matter. */
  readonly callback: Uint8Array
  readonly completion: Uint8Array
  readonly searchAttributes: Uint8Array | null
}

export interface RunFailures {
  readonly lastAttempt: StoredFailure | null
  readonly terminal: StoredFailure | null
}

export interface RunStart extends Omit<StoredRun, 'runNumber'>, RunInput {
  /** When the first attempt is due. */
  readonly dueAt: Micros
  readonly attributes: readonly AttributeRow[]
}

export type StartAnswer =
  | { readonly kind: 'started'; readonly run: StoredRun }
  /** The latest run was started by the same request. */
  | { readonly kind: 'same'; readonly runId: string }
  /** Another request's run is running. */
  | { readonly kind: 'conflict'; readonly runId: string; readonly requestId: string }

/** What the log of a run says of one attempt. */
export interface AttemptRecord {
  readonly startedAt: Micros
  readonly endedAt: Micros
  /** The label of the verdict, with the type that the receiver named. */
  readonly outcome: string
  readonly statusCode: number | null
  readonly errorType: string
  readonly message: string
  readonly responseSnippet: string
  readonly address: string | null
}

/** A transition that is stored if nobody changed the run since it was read. */
export interface Settlement {
  readonly run: StoredRun
  readonly changed: Changed
  /** When somebody has to look at the run again; null when it is closed. */
  readonly dueAt: Micros | null
  /** PostgreSQL: the process whose lease it has to be still; null when that does not matter. */
  readonly leaseOwner: string | null
  /** PostgreSQL: the time at which no process may have leased it; absent when that does not matter. */
  readonly unleasedAt?: Micros
  /** The attempt that led to it; null when none did. */
  readonly attempt: AttemptRecord | null
}

/** When somebody has to look at a run that is in this state since `now`. */
export function dueAtOf(record: RunRecord, now: Micros): Micros | null {
  return record.closedAt === null ? (record.nextAttemptAt ?? now) : null
}
