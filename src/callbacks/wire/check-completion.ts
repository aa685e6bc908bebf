import { toBinary } from '@bufbuild/protobuf'
import {
  type CallbackExecutionCompletion,
  CallbackExecutionCompletionSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import type { Failure } from '../../gen/temporal/api/failure/v1/message_pb.js'
import { nexusFailureBytes } from '../destination/send/nexus-failure.ts'
import { findMetadataProblem } from '../destination/send/payload-content.ts'
import type { CallbackPolicy } from '../settings.ts'
import { findDurationProblem } from './duration.ts'
import { invalid } from './invalid.ts'

const MAX_CAUSES = 20
// The causes of a failure are repeated in what is sent of it: beyond so many times the limit it is refused.
const MAX_GROWTH = 4

/** Rows 14 to 16 of the checks of Start, in their order. Answers the binary form, whose size was checked. */
export function checkCompletion(
  completion: CallbackExecutionCompletion | undefined,
  policy: Pick<CallbackPolicy, 'blob_size' | 'header_max_size'>,
): Uint8Array {
  if (completion === undefined) throw invalid('completion is required')
  const { result } = completion
  if (result.case === undefined) throw invalid('completion must have a success or a failure')
  const bytes = toBinary(CallbackExecutionCompletionSchema, completion)
  if (bytes.length > policy.blob_size.error) {
    throw invalid(`completion size exceeds limit: it has ${bytes.length} bytes of at most ${policy.blob_size.error}`)
  }
  const problem =
    result.case === 'failure'
      ? (findFailureProblem(result.value) ?? findSizeProblem(result.value, MAX_GROWTH * policy.blob_size.error))
      : findMetadataProblem(result.value, policy.header_max_size)
  if (problem !== undefined) throw invalid(problem)
  return bytes
}

function findFailureProblem(top: Failure): string | undefined {
  let causes = 0
  for (let failure: Failure | undefined = top; failure !== undefined; failure = failure.cause) {
    if (causes++ > MAX_CAUSES) return `completion failure has more than ${MAX_CAUSES} causes below it`
    const { failureInfo } = failure
    const delay = failureInfo.case === 'applicationFailureInfo' ? failureInfo.value.nextRetryDelay : undefined
    const problem = delay === undefined ? undefined : findDurationProblem(delay)
    if (problem !== undefined) return `completion failure: next_retry_delay ${problem}`
  }
  return undefined
}

function findSizeProblem(failure: Failure, maxBytes: number): string | undefined {
  const bytes = nexusFailureBytes(failure)
  if (bytes <= maxBytes) return undefined
  return `completion size exceeds limit: its failure would be sent as ${bytes} bytes of at most ${maxBytes}, since what a cause says is repeated for each failure above it`
}
