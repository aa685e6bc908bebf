import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Code } from '@connectrpc/connect'
import {
  CallbackExecutionAlreadyStartedFailureSchema,
  NamespaceNotFoundFailureSchema,
} from '../../gen/temporal/api/errordetails/v1/message_pb.js'
import type { AppError } from '../../platform/errors/app-error.ts'
import { errorAnswer } from '../../platform/http/failure/error-shapes.ts'
import { toConnectError } from '../../platform/rpc/rpc-error.ts'
import { alreadyStarted, namespaceNotFound, runNotFound } from './error-details.ts'

function overHttp(error: AppError): { status: number; body: unknown } {
  const { status, body } = errorAnswer('callbacks', error, 'request')
  return { status, body: JSON.parse(JSON.stringify(body)) }
}

test('a conflict names the run that is in the way', () => {
  const error = alreadyStarted('order-42', { requestId: 'r-1', runId: 'run-1' })
  assert.deepEqual(overHttp(error), {
    status: 409,
    body: {
      code: 6,
      message: 'callback execution "order-42" is already running as run run-1',
      details: [
        {
          '@type': 'type.googleapis.com/temporal.api.errordetails.v1.CallbackExecutionAlreadyStartedFailure',
          startRequestId: 'r-1',
          runId: 'run-1',
        },
      ],
    },
  })
  const status = toConnectError(error, 'request', 0)
  assert.equal(status.code, Code.AlreadyExists)
  const [detail] = status.findDetails(CallbackExecutionAlreadyStartedFailureSchema)
  assert.deepEqual([detail?.startRequestId, detail?.runId], ['r-1', 'run-1'])
})

test('an unknown namespace is named', () => {
  const error = namespaceNotFound('nowhere')
  assert.deepEqual(overHttp(error), {
    status: 404,
    body: {
      code: 5,
      message: 'namespace "nowhere" not found',
      details: [
        {
          '@type': 'type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure',
          namespace: 'nowhere',
        },
      ],
    },
  })
  const status = toConnectError(error, 'request', 0)
  assert.equal(status.findDetails(NamespaceNotFoundFailureSchema)[0]?.namespace, 'nowhere')
})

test('an unknown run names the callback, and no more of it than a message can take', () => {
  assert.match(runNotFound('order-42', null).message, /order-42/)
  assert.match(runNotFound('order-42', 'run-1').message, /order-42.*run-1/)
  assert.ok(runNotFound('x'.repeat(1_000), null).message.length < 200)
})

test('a long id that a message names is cut between two characters', () => {
  assert.match(runNotFound(`${'x'.repeat(99)}😀`, null).message, /^callback execution "x{99}…" was not found$/)
})
