import type { FastifyInstance } from 'fastify'
import {
  CallbackAttemptSchema,
  DestinationSchema,
  ListDestinationsRequestSchema,
  ListDestinationsResponseSchema,
  ResetDestinationRequestSchema,
  SendTestRequestSchema,
  UpdateDestinationRequestSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { messageOperation } from '../http/message-operation.ts'
import { INHERITED, inheritNulls } from './destination-change.ts'
import type { DestinationService } from './destination-service.ts'
import type { SendTests } from './send/send-tests.ts'

const ONE = '/destinations/:destination'

/** In a scope made by `messageScope`. */
export function destinationRoutes(
  scope: FastifyInstance,
  { destinations, tests }: { destinations: DestinationService; tests: SendTests },
): void {
  messageOperation(scope, {
    method: 'GET',
    path: '/destinations',
    operationId: 'ListDestinations',
    summary: 'List where callbacks go, by name, and how that is going',
    description:
      'Counts end a little beyond 10,000. Where several processes serve, each has breakers of its own; those of the one that answers are shown.',
    access: 'callbacks_read',
    request: ListDestinationsRequestSchema,
    response: ListDestinationsResponseSchema,
    handle: (request, call) => destinations.list(request, call),
  })

  messageOperation(scope, {
    method: 'PATCH',
    path: ONE,
    operationId: 'UpdateDestination',
    summary: 'Change the limits of a destination, pause or resume it',
    description: 'What is absent stays. Null, for concurrency and rps, follows the settings again.',
    access: 'callbacks_write',
    request: UpdateDestinationRequestSchema,
    response: DestinationSchema,
    adaptJson: inheritNulls,
    nullable: INHERITED,
    handle: (request, call) => destinations.update(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: `${ONE}/reset`,
    operationId: 'ResetDestination',
    summary: 'Close the breaker of a destination, in every process',
    access: 'callbacks_write',
    request: ResetDestinationRequestSchema,
    response: DestinationSchema,
    handle: (request, call) => destinations.reset(request, call),
  })

  messageOperation(scope, {
    method: 'POST',
    path: '/callback-tests',
    operationId: 'SendTest',
    summary: 'Make one attempt now, and store nothing',
    description: 'Under the same rules as every attempt. Without a completion an empty success is sent.',
    access: 'callbacks_write',
    request: SendTestRequestSchema,
    response: CallbackAttemptSchema,
    handle: (request, call) => tests.send(request, call),
  })
}
