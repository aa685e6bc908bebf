import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DescribeCallbackExecutionRequestSchema as Describe,
  ListCallbackExecutionsRequestSchema as List,
  TerminateCallbackExecutionRequestSchema as Terminate,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { isAppError } from '../../platform/errors/app-error.ts'
import { readBodyRequest, readFlags, readQueryRequest } from './read-request.ts'

const PATH = { namespace: 'default', callbackId: 'order/42' }

function assertRefused(read: () => unknown, message: string): void {
  assert.throws(read, (error) => isAppError(error, 'invalid_argument') && error.message === message)
}

test('the path wins over the body', () => {
  const body = { namespace: 'other', callbackId: 'other', reason: 'no' }
  const request = readBodyRequest(Terminate, body, PATH, { shorthand: true })
  assert.deepEqual([request.namespace, request.callbackId, request.reason], ['default', 'order/42', 'no'])
  assert.equal(readBodyRequest(Terminate, undefined, PATH, { shorthand: true }).callbackId, 'order/42')
})

test('the path wins over the query', () => {
  const request = readQueryRequest(Describe, { namespace: 'other', runId: 'r' }, PATH)
  assert.deepEqual([request.namespace, request.runId], ['default', 'r'])
})

test('query parameters are read by both spellings, and unknown ones are ignored', () => {
  const camel = readQueryRequest(List, { pageSize: '5', nextPageToken: 'AAEC', query: 'a', nonsense: '1' }, PATH)
  const snake = readQueryRequest(List, { page_size: '5', next_page_token: 'AAEC', query: 'a', callback: '{' }, PATH)
  assert.deepEqual(camel, snake)
  assert.deepEqual([camel.pageSize, camel.nextPageToken, camel.query], [5, Uint8Array.of(0, 1, 2), 'a'])
})

test('flags of a query are set by their name alone, or by a value in any case', () => {
  for (const value of ['', 'true', '1', 'True', 'TRUE', 't']) {
    assert.equal(readQueryRequest(Describe, { includeInput: value }, PATH).includeInput, true)
  }
  for (const value of ['false', '0', 'False', 'FALSE', 'f']) {
    assert.equal(readQueryRequest(Describe, { includeInput: value }, PATH).includeInput, false)
  }
  assertRefused(() => readQueryRequest(Describe, { includeInput: 'maybe' }, PATH), 'includeInput must be true or false')
  assert.equal(readQueryRequest(List, { pageSize: '' }, PATH).pageSize, 0)
})

test('a plus sign that was not escaped is still part of a token', () => {
  assert.deepEqual(readQueryRequest(Describe, { longPollToken: ' /8' }, PATH).longPollToken, Uint8Array.of(0xfb, 0xff))
})

test('what cannot be read in a query is named', () => {
  assertRefused(() => readQueryRequest(List, { pageSize: 'x' }, PATH), 'pageSize must be a whole number of 32 bits')
  assertRefused(() => readQueryRequest(List, { query: ['a', 'b'] }, PATH), 'query is given more than once')
  assertRefused(
    () => readQueryRequest(Describe, { runId: 'a', run_id: 'b' }, PATH),
    'run_id and runId are the same field: give one of them',
  )
  assertRefused(
    () => readQueryRequest(List, {}, { namespace: '\ud800' }),
    'namespace must be a text of whole Unicode characters',
  )
})

test('the short form is on unless the query turns it off', () => {
  assert.deepEqual(readFlags({}), { shorthand: true, pretty: false })
  assert.deepEqual(readFlags({ noPayloadShorthand: '', pretty: 'true' }), { shorthand: false, pretty: true })
  assert.deepEqual(readFlags({ noPayloadShorthand: 'false', pretty: '0' }), { shorthand: true, pretty: false })
  assert.deepEqual(readFlags({ noPayloadShorthand: 'False', pretty: 'FALSE' }), { shorthand: true, pretty: false })
})
