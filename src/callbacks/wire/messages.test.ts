// Mostly for the compiler: generated messages fit the plain shapes, and plain shapes are good to create messages from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { DurationSchema } from '@bufbuild/protobuf/wkt'
import * as callbacks from '../../gen/temporal/api/callback/v1/message_pb.js'
import type * as values from '../../gen/temporal/api/common/v1/message_pb.js'
import type * as failures from '../../gen/temporal/api/failure/v1/message_pb.js'
import type * as plain from './messages.ts'

type Fits<Shape, Message extends Shape> = Message
type Makes<Schema extends Parameters<typeof create>[0], Shape extends MessageInitShape<Schema>> = Shape

export type Generated = [
  Fits<plain.Payload, values.Payload>,
  Fits<plain.Payloads, values.Payloads>,
  Fits<plain.SearchAttributes, values.SearchAttributes>,
  Fits<plain.Callback, values.Callback>,
  Fits<plain.NexusCallback, values.Callback_Nexus>,
  Fits<plain.Link, values.Link>,
  Fits<plain.WorkflowEventLink, values.Link_WorkflowEvent>,
  Fits<plain.Failure, failures.Failure>,
  Fits<plain.ApplicationFailureInfo, failures.ApplicationFailureInfo>,
  Fits<plain.ActivityFailureInfo, failures.ActivityFailureInfo>,
  Fits<plain.ChildWorkflowExecutionFailureInfo, failures.ChildWorkflowExecutionFailureInfo>,
  Fits<plain.NexusOperationFailureInfo, failures.NexusOperationFailureInfo>,
  Fits<plain.NexusHandlerFailureInfo, failures.NexusHandlerFailureInfo>,
  Fits<plain.CallbackExecutionCompletion, callbacks.CallbackExecutionCompletion>,
  Fits<plain.CallbackExecutionOutcome, callbacks.CallbackExecutionOutcome>,
]

export type Made = [
  Makes<typeof DurationSchema, plain.Duration>,
  Makes<typeof values.PayloadSchema, plain.Payload>,
  Makes<typeof values.SearchAttributesSchema, plain.SearchAttributes>,
  Makes<typeof values.CallbackSchema, plain.Callback>,
  Makes<typeof failures.FailureSchema, plain.Failure>,
  Makes<typeof callbacks.CallbackExecutionCompletionSchema, plain.CallbackExecutionCompletion>,
]

/** Every case of a failure is named in both, so that none is forgotten in the plain shapes. */
type Cases = NonNullable<failures.Failure['failureInfo']['case']>
const SAME_CASES: [Cases] extends [keyof plain.FailureInfos]
  ? [keyof plain.FailureInfos] extends [Cases]
    ? true
    : false
  : false = true

test('a plain completion becomes the message with the same members', () => {
  const completion: plain.CallbackExecutionCompletion = {
    result: { case: 'success', value: { metadata: {}, data: Uint8Array.of(1), externalPayloads: [{ sizeBytes: 2n }] } },
  }
  const message = create(callbacks.CallbackExecutionCompletionSchema, completion)
  assert.equal(message.result.case, 'success')
  assert.deepEqual(message.result.value?.data, Uint8Array.of(1))
  assert.ok(SAME_CASES)
})
