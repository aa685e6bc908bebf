// The numbers that the contract fixes, and the JSON names that follow from the names. Stored bytes depend on them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import type { GenFile } from '@bufbuild/protobuf/codegenv2'
import {
  CallbackService,
  file_commonplace_callbacks_v1_callbacks,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { file_commonplace_retry_v1_retry_policy } from '../../gen/commonplace/retry/v1/retry_policy_pb.js'
import { file_temporal_api_callback_v1_message } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { file_temporal_api_common_v1_message } from '../../gen/temporal/api/common/v1/message_pb.js'
import { CallbackExecutionStatusSchema } from '../../gen/temporal/api/enums/v1/callback_pb.js'
import {
  ApplicationErrorCategorySchema,
  CallbackStateSchema,
  IndexedValueTypeSchema,
  NexusHandlerErrorRetryBehaviorSchema,
} from '../../gen/temporal/api/enums/v1/common_pb.js'
import { RetryStateSchema, TimeoutTypeSchema } from '../../gen/temporal/api/enums/v1/workflow_pb.js'
import { file_temporal_api_errordetails_v1_message } from '../../gen/temporal/api/errordetails/v1/message_pb.js'
import { file_temporal_api_failure_v1_message } from '../../gen/temporal/api/failure/v1/message_pb.js'
import { file_temporal_api_workflowservice_v1_request_response } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { WorkflowService } from '../../gen/temporal/api/workflowservice/v1/service_pb.js'
import { STATE_NUMBERS, STATUS_NUMBERS } from '../state/run-state.ts'

/** Full name of a message: its fields as `number name`, in the order of the numbers. */
const MESSAGES: Record<string, string> = {
  'temporal.api.callback.v1.CallbackExecutionOutcome': '1 success, 2 failure',
  'temporal.api.callback.v1.CallbackExecutionCompletion': '1 success, 2 failure',
  'temporal.api.callback.v1.CallbackExecutionInfo':
    '1 callbackId, 2 runId, 3 callback, 4 status, 5 state, 6 attempt, 7 createTime, 8 lastAttemptCompleteTime, 9 lastAttemptFailure, 10 nextAttemptScheduleTime, 11 blockedReason, 12 closeTime, 13 searchAttributes, 14 scheduleToCloseTimeout, 15 stateTransitionCount',
  'temporal.api.callback.v1.CallbackExecutionListInfo':
    '1 callbackId, 2 runId, 3 status, 4 createTime, 5 closeTime, 6 searchAttributes, 7 stateTransitionCount',
  'temporal.api.common.v1.Callback': '2 nexus, 3 internal, 100 links',
  'temporal.api.common.v1.Callback.Nexus': '1 url, 2 header, 3 token',
  'temporal.api.common.v1.Callback.Internal': '1 data',
  'temporal.api.common.v1.Payload': '1 metadata, 2 data, 3 externalPayloads',
  'temporal.api.common.v1.Payload.ExternalPayloadDetails': '1 sizeBytes',
  'temporal.api.common.v1.Payloads': '1 payloads',
  'temporal.api.common.v1.SearchAttributes': '1 indexedFields',
  'temporal.api.common.v1.ActivityType': '1 name',
  'temporal.api.common.v1.WorkflowType': '1 name',
  'temporal.api.common.v1.WorkflowExecution': '1 workflowId, 2 runId',
  'temporal.api.common.v1.Link': '1 workflowEvent, 2 batchJob, 3 activity, 4 nexusOperation',
  'temporal.api.common.v1.Link.WorkflowEvent': '1 namespace, 2 workflowId, 3 runId, 100 eventRef, 101 requestIdRef',
  'temporal.api.common.v1.Link.WorkflowEvent.EventReference': '1 eventId, 2 eventType',
  'temporal.api.common.v1.Link.WorkflowEvent.RequestIdReference': '1 requestId, 2 eventType',
  'temporal.api.common.v1.Link.BatchJob': '1 jobId',
  'temporal.api.common.v1.Link.Activity': '1 namespace, 2 activityId, 3 runId',
  'temporal.api.common.v1.Link.NexusOperation': '1 namespace, 2 operationId, 3 runId',
  'temporal.api.failure.v1.Failure':
    '1 message, 2 source, 3 stackTrace, 4 cause, 5 applicationFailureInfo, 6 timeoutFailureInfo, 7 canceledFailureInfo, 8 terminatedFailureInfo, 9 serverFailureInfo, 10 resetWorkflowFailureInfo, 11 activityFailureInfo, 12 childWorkflowExecutionFailureInfo, 13 nexusOperationExecutionFailureInfo, 14 nexusHandlerFailureInfo, 20 encodedAttributes',
  'temporal.api.failure.v1.ApplicationFailureInfo': '1 type, 2 nonRetryable, 3 details, 4 nextRetryDelay, 5 category',
  'temporal.api.failure.v1.TimeoutFailureInfo': '1 timeoutType, 2 lastHeartbeatDetails',
  'temporal.api.failure.v1.CanceledFailureInfo': '1 details, 2 identity',
  'temporal.api.failure.v1.TerminatedFailureInfo': '1 identity',
  'temporal.api.failure.v1.ServerFailureInfo': '1 nonRetryable',
  'temporal.api.failure.v1.ResetWorkflowFailureInfo': '1 lastHeartbeatDetails',
  'temporal.api.failure.v1.ActivityFailureInfo':
    '1 scheduledEventId, 2 startedEventId, 3 identity, 4 activityType, 5 activityId, 6 retryState',
  'temporal.api.failure.v1.ChildWorkflowExecutionFailureInfo':
    '1 namespace, 2 workflowExecution, 3 workflowType, 4 initiatedEventId, 5 startedEventId, 6 retryState',
  'temporal.api.failure.v1.NexusOperationFailureInfo':
    '1 scheduledEventId, 2 endpoint, 3 service, 4 operation, 5 operationId, 6 operationToken',
  'temporal.api.failure.v1.NexusHandlerFailureInfo': '1 type, 2 retryBehavior',
  'temporal.api.errordetails.v1.CallbackExecutionAlreadyStartedFailure': '1 startRequestId, 2 runId',
  'temporal.api.errordetails.v1.NamespaceNotFoundFailure': '1 namespace',
  'temporal.api.workflowservice.v1.StartCallbackExecutionRequest':
    '1 namespace, 2 identity, 3 requestId, 4 callbackId, 5 callback, 6 scheduleToCloseTimeout, 7 searchAttributes, 8 completion, 1001 retryPolicy, 1002 startDelay',
  'temporal.api.workflowservice.v1.StartCallbackExecutionResponse': '1 runId',
  'temporal.api.workflowservice.v1.DescribeCallbackExecutionRequest':
    '1 namespace, 2 callbackId, 3 runId, 4 includeInput, 5 includeOutcome, 6 longPollToken',
  'temporal.api.workflowservice.v1.DescribeCallbackExecutionResponse': '1 info, 2 input, 3 outcome, 4 longPollToken',
  'temporal.api.workflowservice.v1.PollCallbackExecutionRequest': '1 namespace, 2 callbackId, 3 runId',
  'temporal.api.workflowservice.v1.PollCallbackExecutionResponse': '1 runId, 2 outcome',
  'temporal.api.workflowservice.v1.ListCallbackExecutionsRequest': '1 namespace, 2 pageSize, 3 nextPageToken, 4 query',
  'temporal.api.workflowservice.v1.ListCallbackExecutionsResponse': '1 executions, 2 nextPageToken',
  'temporal.api.workflowservice.v1.CountCallbackExecutionsRequest': '1 namespace, 2 query',
  'temporal.api.workflowservice.v1.CountCallbackExecutionsResponse': '1 count, 2 groups',
  'temporal.api.workflowservice.v1.CountCallbackExecutionsResponse.AggregationGroup': '1 groupValues, 2 count',
  'temporal.api.workflowservice.v1.TerminateCallbackExecutionRequest':
    '1 namespace, 2 callbackId, 3 runId, 4 identity, 5 requestId, 6 reason',
  'temporal.api.workflowservice.v1.TerminateCallbackExecutionResponse': '',
  'temporal.api.workflowservice.v1.DeleteCallbackExecutionRequest': '1 namespace, 2 callbackId, 3 runId',
  'temporal.api.workflowservice.v1.DeleteCallbackExecutionResponse': '',
  'commonplace.retry.v1.RetryPolicy': '1 initialInterval, 2 maximumInterval, 3 backoffCoefficient, 4 maximumAttempts',
}

const FILES: GenFile[] = [
  file_temporal_api_callback_v1_message,
  file_temporal_api_common_v1_message,
  file_temporal_api_failure_v1_message,
  file_temporal_api_errordetails_v1_message,
  file_temporal_api_workflowservice_v1_request_response,
  file_commonplace_retry_v1_retry_policy,
]

function allMessages(messages: readonly DescMessage[]): DescMessage[] {
  return messages.flatMap((message) => [message, ...allMessages(message.nestedMessages)])
}

test('every message has the fields and numbers of the contract, and no others', () => {
  const found = allMessages(FILES.flatMap(({ messages }) => messages)).map((message) => {
    const fields = [...message.fields].sort((one, other) => one.number - other.number)
    return [message.typeName, fields.map(({ number, jsonName }) => `${number} ${jsonName}`).join(', ')]
  })
  assert.deepEqual(Object.fromEntries(found), MESSAGES)
})

test('the enums have the numbers of the contract', () => {
  const names = (desc: DescEnum) => desc.values.map(({ number, localName }) => `${number} ${localName}`).join(' ')
  assert.equal(names(CallbackExecutionStatusSchema), '0 UNSPECIFIED 1 RUNNING 2 SUCCEEDED 3 FAILED 4 TERMINATED')
  assert.equal(
    names(CallbackStateSchema),
    '0 UNSPECIFIED 1 STANDBY 2 SCHEDULED 3 BACKING_OFF 4 FAILED 5 SUCCEEDED 6 BLOCKED 7 TERMINATED 8 TIMED_OUT',
  )
  assert.equal(
    names(TimeoutTypeSchema),
    '0 UNSPECIFIED 1 START_TO_CLOSE 2 SCHEDULE_TO_START 3 SCHEDULE_TO_CLOSE 4 HEARTBEAT',
  )
  assert.equal(
    names(RetryStateSchema),
    '0 UNSPECIFIED 1 IN_PROGRESS 2 NON_RETRYABLE_FAILURE 3 TIMEOUT 4 MAXIMUM_ATTEMPTS_REACHED 5 RETRY_POLICY_NOT_SET 6 INTERNAL_SERVER_ERROR 7 CANCEL_REQUESTED',
  )
  assert.equal(names(ApplicationErrorCategorySchema), '0 UNSPECIFIED 1 BENIGN')
  assert.equal(names(NexusHandlerErrorRetryBehaviorSchema), '0 UNSPECIFIED 1 RETRYABLE 2 NON_RETRYABLE')
  assert.equal(
    names(IndexedValueTypeSchema),
    '0 UNSPECIFIED 1 TEXT 2 KEYWORD 3 INT 4 DOUBLE 5 BOOL 6 DATETIME 7 KEYWORD_LIST',
  )
})

test('the numbers that runs are stored with are those of the enums', () => {
  for (const [name, number] of Object.entries(STATE_NUMBERS)) {
    assert.equal(CallbackStateSchema.value[number]?.name, `CALLBACK_STATE_${name}`)
  }
  for (const [name, number] of Object.entries(STATUS_NUMBERS)) {
    assert.equal(CallbackExecutionStatusSchema.value[number]?.name, `CALLBACK_EXECUTION_STATUS_${name}`)
  }
})

test('our own service offers every operation of the other one with the same messages', () => {
  assert.equal(WorkflowService.typeName, 'temporal.api.workflowservice.v1.WorkflowService')
  assert.equal(WorkflowService.methods.length, 7)
  for (const { name, input, output } of WorkflowService.methods) {
    const own = CallbackService.methods.find((method) => method.name === name)
    assert.deepEqual([own?.input, own?.output], [input, output])
  }
  assert.ok(file_commonplace_callbacks_v1_callbacks.services.includes(CallbackService))
})
