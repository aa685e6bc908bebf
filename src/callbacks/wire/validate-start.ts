import { toBinary } from '@bufbuild/protobuf'
import type { CallbackExecutionCompletion } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { type Callback, CallbackSchema, SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import type { StartCallbackExecutionRequest } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Target } from '../destination/address/target.ts'
import { destinationOf } from '../destination/destination-of.ts'
import type { AttributeRow } from '../query/attribute-rows.ts'
import type { CallbackPolicy } from '../settings.ts'
import type { NewRun } from '../state/run-record.ts'
import { scheduleToClose } from '../state/schedule-to-close.ts'
import { type AttributeTypes, checkAttributes } from './check-attributes.ts'
import { type CallbackRules, checkCallback } from './check-callback.ts'
import { checkCompletion } from './check-completion.ts'
import { checkKeyLength, checkLength, requireText } from './check-ids.ts'
import { checkDuration, checkRetryPolicy } from './check-times.ts'

// What nobody here knows was not counted either.
const KNOWN = { writeUnknownFields: false }

/** What holds in the namespace; the server's own values and no attributes where there is no such namespace. */
export interface StartRules extends CallbackRules {
  searchAttributes: AttributeTypes
}

/** A request that may be stored as it is, if its namespace exists. */
export interface ValidStart extends NewRun {
  callbackId: string
  /** Empty when the caller gave none. */
  requestId: string
  /** With the names of its headers in lower case, and with its token. */
  callback: Callback
  target: Target
  /** `scheme://host[:port]`. */
  destination: string
  completion: CallbackExecutionCompletion
  /** The same in the binary form, as they are stored. */
  callbackBytes: Uint8Array
  completionBytes: Uint8Array
  /** Null when there are none. */
  searchAttributesBytes: Uint8Array | null
  attributeRows: AttributeRow[]
  /** Whether the completion is worth a line in the log. */
  isLarge: boolean
}

/** Everything that can be said about a request without looking at the data; the first thing that is wrong is said. */
export function validateStart(request: StartCallbackExecutionRequest, rules: StartRules): ValidStart {
  const { policy } = rules
  requireEnabled(policy)
  const { namespace, identity, requestId, callbackId, searchAttributes } = request
  requireText('namespace', namespace)
  requireText('identity', identity)
  requireText('callback_id', callbackId)
  checkKeyLength('callback_id', callbackId, policy.max_id_length)
  checkLength('identity', identity, policy.max_id_length)
  checkLength('request_id', requestId, policy.max_id_length)
  const { callback, target } = checkCallback(request.callback, rules)
  const givenTimeout = checkDuration('schedule_to_close_timeout', request.scheduleToCloseTimeout)
  const retryPolicy = checkRetryPolicy(request.retryPolicy)
  const startDelayMicros = checkDuration('start_delay', request.startDelay)
  const completionBytes = checkCompletion(request.input.value, policy)
  const attributeRows = checkAttributes(searchAttributes, rules.searchAttributes, policy.search_attribute_limits)
  return {
    callbackId,
    requestId,
    callback,
    target,
    destination: destinationOf(target),
    completion: request.input.value as CallbackExecutionCompletion,
    callbackBytes: toBinary(CallbackSchema, callback, KNOWN),
    completionBytes,
    searchAttributesBytes:
      searchAttributes === undefined ? null : toBinary(SearchAttributesSchema, searchAttributes, KNOWN),
    attributeRows,
    isLarge: completionBytes.length > policy.blob_size.warn,
    timeoutMicros: scheduleToClose(givenTimeout, policy.schedule_to_close),
    startDelayMicros,
    retryPolicy,
  }
}

/** Starting is switched off for a namespace; what was started before goes on. */
export function requireEnabled(policy: CallbackPolicy): void {
  if (!policy.enabled) throw new AppError('unimplemented', 'callback executions are not enabled for this namespace')
}
