import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Code, ConnectError } from '@connectrpc/connect'
import { RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { AppError } from '../errors/app-error.ts'
import { correctStatus } from './correct-status.ts'
import { toConnectError } from './rpc-error.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

function retryDelay(retryAfter: string): bigint | undefined {
  const error = new AppError('rate_limited', 'Slow down.', { headers: { 'Retry-After': retryAfter } })
  return toConnectError(error, 'id', NOW).findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds
}

test('Retry-After becomes a delay, given in seconds or as a date', () => {
  assert.equal(retryDelay('30'), 30n)
  assert.equal(retryDelay('Tue, 01 Jan 2030 00:01:00 GMT'), 60n)
  assert.equal(retryDelay('Mon, 31 Dec 2029 23:00:00 GMT'), 0n)
  assert.equal(retryDelay('later'), undefined)
  assert.equal(retryDelay('9'.repeat(400)), 31_536_000n)
})

test('a defect keeps its text as the cause and shows the request id', () => {
  const cause = new Error('secret')
  const error = toConnectError(cause, 'request-1', NOW)
  assert.equal(error.code, Code.Internal)
  assert.match(error.rawMessage, /request id request-1/)
  assert.equal(error.cause, cause)
})

test('a status that is one already stays the same', () => {
  const status = new ConnectError('as is', Code.DataLoss)
  assert.equal(toConnectError(status, 'id', NOW), status)
})

test('only our own failures stay internal, and their text is hidden', () => {
  const hide = () => new ConnectError('hidden', Code.Internal)
  function corrected(text: string) {
    const error = new ConnectError(text, Code.Internal)
    correctStatus(error, hide)
    return [error.code, error.rawMessage, error.message]
  }
  assert.equal(corrected('parse binary: premature EOF')[0], Code.InvalidArgument)
  assert.equal(corrected('http/2 stream closed with error code INTERNAL_ERROR (0x2)')[0], Code.Canceled)
  assert.deepEqual(corrected('serialize binary: cannot encode field secret'), [
    Code.Internal,
    'hidden',
    '[internal] hidden',
  ])
})
