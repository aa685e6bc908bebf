import type { FastifyInstance } from 'fastify'
import {
  DescribeBulkReplayRequestSchema,
  DescribeBulkReplayResponseSchema,
  ListCallbackAttemptsRequestSchema,
  ListCallbackAttemptsResponseSchema,
  ReplayCallbackExecutionRequestSchema,
  ReplayCallbackExecutionResponseSchema,
  RetryCallbackExecutionRequestSchema,
  RetryCallbackExecutionResponseSchema,
  StartBulkReplayRequestSchema,
  StartBulkReplayResponseSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { messageOperation } from '../http/message-operation.ts'
import type { ReplayService } from '../replay/replay-service.ts'
import type { AttemptsService } from './attempts-service.ts'

const ONE = '/callbacks/:callback_id'

/** Operations on runs that only this server has. In a scope made by `messageScope`. */
export function attemptAndReplayRoutes(
  scope: FastifyInstance,
  { attempts, replays }: { attempts: AttemptsService; replays: ReplayService },
): void {
  messageOperation(scope, {
    method: 'GET',
    path: `${ONE}/attempts`,
    operationId: 'ListCallbackAttempts',
    summary: 'List the attempts of a run, the newest first',
    description: 'The last 100 attempts of a run are kept.',
    access: 'callbacks_read',
    request: ListCallbackAttemptsRequestSchema,
    response: ListCallbackAttemptsResponseSchema,
    handle: (request, call) => attempts.list(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: `${ONE}/retry`,
    operationId: 'RetryCallbackExecution',
    summary: 'Attempt a running callback execution now',
    description: 'Instead of at the end of its backoff. A destination that is left alone gets one trial.',
    access: 'callbacks_write',
    request: RetryCallbackExecutionRequestSchema,
    response: RetryCallbackExecutionResponseSchema,
    handle: (request, call) => attempts.retry(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: `${ONE}/replay`,
    operationId: 'ReplayCallbackExecution',
    summary: 'Start a new run from what a closed one delivered',
    description:
      'Under the same callbackId unless another one is given. The same requestId again answers the same new run.',
    access: 'callbacks_write',
    request: ReplayCallbackExecutionRequestSchema,
    response: ReplayCallbackExecutionResponseSchema,
    // The body names the callback of the new run.
    pathFields: { callback_id: 'sourceCallbackId' },
    handle: (request, call) => replays.replay(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: '/callback-replays',
    operationId: 'StartBulkReplay',
    summary: 'Replay every closed run that a query finds',
    description:
      'In the background, under the same callback ids. With dryRun it only counts. The same requestId again answers the same job.',
    access: 'callbacks_write',
    request: StartBulkReplayRequestSchema,
    response: StartBulkReplayResponseSchema,
    handle: (request, call) => replays.startBulk(request, call),
  })

  messageOperation(scope, {
    method: 'GET',
    path: '/callback-replays/:job_id',
    operationId: 'DescribeBulkReplay',
    summary: 'Tell how far a bulk replay has come',
    access: 'callbacks_read',
    request: DescribeBulkReplayRequestSchema,
    response: DescribeBulkReplayResponseSchema,
    handle: (request, call) => replays.describeBulk(request, call),
  })
}
