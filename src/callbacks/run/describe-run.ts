import { create, fromBinary } from '@bufbuild/protobuf'
import {
  CallbackExecutionCompletionSchema,
  type CallbackExecutionInfo,
  CallbackExecutionInfoSchema,
  type CallbackExecutionOutcome,
  CallbackExecutionOutcomeSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import { type Callback, SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { type Failure, FailureSchema } from '../../gen/temporal/api/failure/v1/message_pb.js'
import {
  type DescribeCallbackExecutionResponse,
  DescribeCallbackExecutionResponseSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import { shownState } from '../state/run-record.ts'
import { STATE_NUMBERS, STATUS_NUMBERS } from '../state/run-state.ts'
import { runOutcome, type StoredFailure } from '../state/stored-failure.ts'
import { durationOf } from '../wire/duration.ts'
import { readMessage } from '../wire/json.ts'
import { timestampOf } from '../wire/timestamp.ts'
import type { DescribedRun, RunWithFailures } from './store-describe.ts'
import { openCallback, StoredCallbackUnreadable } from './stored-callback.ts'

export interface DescribeFacts {
  cipher: Cipher
  now: Micros
  /** Why its destination takes no attempts, null when it does. */
  blockedReason: string | null
  includeOutcome: boolean
  /** Absent when the run is closed. */
  longPollToken?: Uint8Array
}

/** All that may be shown of a run. What it was given to deliver is in it when it was read. */
export function describeRun(run: DescribedRun, facts: DescribeFacts): DescribeCallbackExecutionResponse {
  return create(DescribeCallbackExecutionResponseSchema, {
    info: infoOf(run, facts),
    input: run.completion === null ? undefined : fromBinary(CallbackExecutionCompletionSchema, run.completion),
    outcome: facts.includeOutcome ? outcomeMessage(run) : undefined,
    longPollToken: facts.longPollToken,
  })
}

/** Undefined while running. */
export function outcomeMessage({ record, failures }: RunWithFailures): CallbackExecutionOutcome | undefined {
  const outcome = runOutcome(record.state, failures)
  if (outcome === null) return undefined
  return create(CallbackExecutionOutcomeSchema, {
    value:
      'failure' in outcome
        ? { case: 'failure', value: failureMessage(outcome.failure) }
        : { case: 'success', value: {} },
  })
}

function infoOf(run: DescribedRun, { cipher, now, blockedReason }: DescribeFacts): CallbackExecutionInfo {
  const { record, failures } = run
  const shown = shownState(record, blockedReason, now)
  return create(CallbackExecutionInfoSchema, {
    callbackId: run.callbackId,
    runId: run.runId,
    callback: withoutToken(openCallback(cipher, run.callback, run.runId)),
    status: STATUS_NUMBERS[shown.status],
    state: STATE_NUMBERS[shown.state],
    attempt: record.attempt,
    createTime: timestampOf(record.createdAt),
    lastAttemptCompleteTime: optional(record.lastAttemptCompletedAt, timestampOf),
    lastAttemptFailure: optional(failures.lastAttempt, failureMessage),
    nextAttemptScheduleTime: optional(shown.nextAttemptAt, timestampOf),
    blockedReason: shown.blockedReason,
    closeTime: optional(record.closedAt, timestampOf),
    searchAttributes: optional(run.searchAttributes, (bytes) => fromBinary(SearchAttributesSchema, bytes)),
    scheduleToCloseTimeout: optional(run.timeoutMicros, durationOf),
    stateTransitionCount: BigInt(record.transitionCount),
  })
}

/**
 * It is write-only: whoever reads a run must not be able to resolve its target. A callback that cannot be read is left out: the rest
 * says why the run failed.
 */
function withoutToken(callback: Callback | StoredCallbackUnreadable): Callback | undefined {
  if (callback instanceof StoredCallbackUnreadable) return undefined
  if (callback.variant.case === 'nexus') callback.variant.value.token = ''
  return callback
}

function failureMessage(failure: StoredFailure): Failure {
  return readMessage(FailureSchema, failure)
}

function optional<From, To>(value: From | null, convert: (value: From) => To): To | undefined {
  return value === null ? undefined : convert(value)
}
