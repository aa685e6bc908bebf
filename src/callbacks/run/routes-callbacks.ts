import type { FastifyInstance } from 'fastify'
import {
  CountCallbackExecutionsRequestSchema,
  CountCallbackExecutionsResponseSchema,
  DeleteCallbackExecutionRequestSchema,
  DeleteCallbackExecutionResponseSchema,
  DescribeCallbackExecutionRequestSchema,
  DescribeCallbackExecutionResponseSchema,
  ListCallbackExecutionsRequestSchema,
  ListCallbackExecutionsResponseSchema,
  PollCallbackExecutionRequestSchema,
  PollCallbackExecutionResponseSchema,
  StartCallbackExecutionRequestSchema,
  StartCallbackExecutionResponseSchema,
  TerminateCallbackExecutionRequestSchema,
  TerminateCallbackExecutionResponseSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { messageOperation } from '../http/message-operation.ts'
import type { RunService } from './run-service.ts'

const ALL = '/callbacks'
const ONE = `${ALL}/:callback_id`

/** In a scope made by `messageScope`. */
export function callbackRoutes(scope: FastifyInstance, runs: RunService): void {
  messageOperation(scope, {
    method: 'POST',
    path: ONE,
    emptyAt: ALL,
    operationId: 'StartCallbackExecution',
    summary: 'Start a callback execution',
    description:
      'Answers when the completion is stored, before it is delivered. The same requestId again answers the same run.',
    access: 'callbacks_write',
    request: StartCallbackExecutionRequestSchema,
    response: StartCallbackExecutionResponseSchema,
    handle: (request, call) => runs.start(request, call),
  })

  messageOperation(scope, {
    method: 'GET',
    path: ONE,
    operationId: 'DescribeCallbackExecution',
    summary: 'Describe a callback execution',
    description:
      'At once, or with the longPollToken of an earlier answer as soon as it has changed since. An answer without info means: ask again.',
    access: 'callbacks_read',
    request: DescribeCallbackExecutionRequestSchema,
    response: DescribeCallbackExecutionResponseSchema,
    isLongPoll: ({ longPollToken }) => longPollToken.length > 0,
    handle: (request, call) => runs.describe(request, call),
  })

  messageOperation(scope, {
    method: 'GET',
    path: `${ONE}/outcome`,
    operationId: 'PollCallbackExecution',
    summary: 'Wait for the outcome of a callback execution',
    description: 'Answers as soon as the run is closed. An empty answer means that it still runs: ask again.',
    access: 'callbacks_read',
    request: PollCallbackExecutionRequestSchema,
    response: PollCallbackExecutionResponseSchema,
    isLongPoll: () => true,
    handle: (request, call) => runs.poll(request, call),
  })

  messageOperation(scope, {
    method: 'GET',
    path: ALL,
    alsoByQuery: true,
    operationId: 'ListCallbackExecutions',
    summary: 'List callback executions, running ones first, then the last that closed',
    description: 'The method QUERY does the same with the request as its body.',
    access: 'callbacks_read',
    request: ListCallbackExecutionsRequestSchema,
    response: ListCallbackExecutionsResponseSchema,
    handle: (request, call) => runs.list(request, call),
  })

  messageOperation(scope, {
    method: 'GET',
    path: '/callback-count',
    alsoByQuery: true,
    operationId: 'CountCallbackExecutions',
    summary: 'Count callback executions',
    description:
      'The number is exact. The query may end in GROUP BY ExecutionStatus. The method QUERY does the same with the request as its body.',
    access: 'callbacks_read',
    request: CountCallbackExecutionsRequestSchema,
    response: CountCallbackExecutionsResponseSchema,
    handle: (request, call) => runs.count(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: `${ONE}/terminate`,
    operationId: 'TerminateCallbackExecution',
    summary: 'End a callback execution at once',
    description: 'A request in flight may still reach its receiver. The same requestId again is answered with success.',
    access: 'callbacks_write',
    request: TerminateCallbackExecutionRequestSchema,
    response: TerminateCallbackExecutionResponseSchema,
    handle: (request, call) => runs.terminate(request, call),
  })

  messageOperation(scope, {
    method: 'DELETE',
    path: ONE,
    emptyAt: ALL,
    operationId: 'DeleteCallbackExecution',
    summary: 'Delete a run of a callback execution with all its data',
    description: 'A run that is running is ended first. Without a runId it is the latest one.',
    access: 'callbacks_write',
    request: DeleteCallbackExecutionRequestSchema,
    response: DeleteCallbackExecutionResponseSchema,
    handle: (request, call) => runs.delete(request, call),
  })
}
