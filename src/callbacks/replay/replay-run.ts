import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { CallbackExecutionCompletionSchema } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { CallbackSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { destinationOf } from '../destination/destination-of.ts'
import type { NamespaceId } from '../namespace/namespace.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { StartAnswer } from '../run/run.ts'
import type { StartRuns } from '../run/start-runs.ts'
import { findRun } from '../run/store-runs.ts'
import { openCallback, StoredCallbackUnreadable } from '../run/stored-callback.ts'
import { isTerminal } from '../state/run-state.ts'
import { scheduleToClose } from '../state/schedule-to-close.ts'
import { checkCallback } from '../wire/check-callback.ts'
import { requireEnabled, type ValidStart } from '../wire/validate-start.ts'
import { copyAttributes, findReplaySources, type ReplaySource } from './store-replays.ts'

/** What is to be started of it. */
export interface ReplayNames {
  readonly callbackId: string
  /** Empty when the caller gave none. */
  readonly requestId: string
}

/** Undefined when there is no such run, or none any more. */
export async function findReplaySource(
  reader: Reader,
  namespaceId: NamespaceId,
  callbackId: string,
  runId: string | null,
): Promise<ReplaySource | undefined> {
  const run = await findRun(reader, namespaceId, callbackId, runId)
  if (run === undefined) return undefined
  if (!isTerminal(run.record.state)) {
    throw new AppError(
      'failed_precondition',
      `The callback execution is still running as run ${run.runId}: only a closed run can be replayed`,
    )
  }
  return (await findReplaySources(reader, [run.runNumber])).get(run.runNumber)
}

/** The start of a run like this one, under the rules as they are now; what they refuse is `invalid_argument`. */
export function replayStart(
  cipher: Cipher,
  namespace: ActiveNamespace,
  { run, input }: ReplaySource,
  { callbackId, requestId }: ReplayNames,
): ValidStart {
  const { policy } = namespace
  requireEnabled(policy)
  const opened = openCallback(cipher, input.callback, run.runId)
  if (opened instanceof StoredCallbackUnreadable) throw opened
  const { callback, target } = checkCallback(opened, namespace)
  return {
    callbackId,
    requestId,
    callback,
    target,
    destination: destinationOf(target),
    completion: fromBinary(CallbackExecutionCompletionSchema, input.completion),
    callbackBytes: toBinary(CallbackSchema, callback),
    completionBytes: input.completion,
    searchAttributesBytes: input.searchAttributes,
    // Copied where they are: some may not be declared any more.
    attributeRows: [],
    isLarge: false,
    timeoutMicros: scheduleToClose(run.timeoutMicros ?? 0, policy.schedule_to_close),
    startDelayMicros: 0,
    retryPolicy: run.record.retryPolicy,
  }
}

/** In a transaction of the caller, which must be `read committed` on PostgreSQL. */
export async function replayIn(
  tx: Transaction,
  starts: StartRuns,
  namespace: ActiveNamespace,
  { run, input }: ReplaySource,
  start: ValidStart,
): Promise<StartAnswer> {
  const answer = await starts.startIn(tx, namespace, start)
  if (answer.kind === 'started' && input.searchAttributes !== null) {
    await copyAttributes(tx, run.runNumber, answer.run.runNumber)
  }
  return answer
}
