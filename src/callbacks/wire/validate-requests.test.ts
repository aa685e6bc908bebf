import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { ReplayCallbackExecutionRequestSchema } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  CountCallbackExecutionsRequestSchema,
  DescribeCallbackExecutionRequestSchema,
  ListCallbackExecutionsRequestSchema,
  PollCallbackExecutionRequestSchema,
  TerminateCallbackExecutionRequestSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { isAppError } from '../../platform/errors/app-error.ts'
import { Tokens } from './tokens.ts'
import {
  pageSizeOf,
  validateCount,
  validateDescribe,
  validateList,
  validateReplay,
  validateRunAddress,
  validateTerminate,
} from './validate-requests.ts'

const POLICY = { max_id_length: 20, max_page_size: 1000 }
const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'
const tokens = new Tokens(Buffer.alloc(32))

function assertRefused(validate: () => unknown, message: RegExp): void {
  assert.throws(validate, (error) => {
    assert.ok(isAppError(error, 'invalid_argument'), String(error))
    assert.match(error.message, message)
    return true
  })
}

function poll(init: MessageInitShape<typeof PollCallbackExecutionRequestSchema>) {
  return validateRunAddress(
    create(PollCallbackExecutionRequestSchema, { namespace: 'n', callbackId: 'c', ...init }),
    POLICY,
  )
}

test('an operation on a run needs namespace and callback, and takes an id in any case', () => {
  assert.deepEqual(poll({}), { callbackId: 'c', runId: null })
  assert.deepEqual(poll({ runId: RUN_ID.toUpperCase() }), { callbackId: 'c', runId: RUN_ID })
  assertRefused(() => poll({ namespace: '', callbackId: '' }), /^namespace is required$/)
  assertRefused(() => poll({ callbackId: '', runId: 'x' }), /^callback_id is required$/)
  assertRefused(() => poll({ callbackId: 'x'.repeat(1001), runId: 'x' }), /^run_id is not a valid UUID$/)
  assertRefused(
    () => poll({ callbackId: 'é'.repeat(501) }),
    /^callback_id has 1002 bytes, which exceeds the limit of 1000$/,
  )
  assertRefused(() => poll({ callbackId: 'a\0' }), /^callback_id must not contain the character NUL$/)
})

test('a run whose id was allowed before the limit was lowered is found by it, and not started anew under it', () => {
  const callbackId = 'x'.repeat(1000)
  assert.equal(poll({ callbackId }).callbackId, callbackId)
  const replay = (wish: object) =>
    validateReplay(
      create(ReplayCallbackExecutionRequestSchema, { namespace: 'n', sourceCallbackId: callbackId, ...wish }),
      POLICY,
    )
  assert.equal(replay({ callbackId: 'd' }).newCallbackId, 'd')
  assertRefused(() => replay({}), /^callback_id has 1000 bytes, which exceeds the limit of 20$/)
})

test('a long poll needs the run and a token of it', () => {
  const describe = (init: MessageInitShape<typeof DescribeCallbackExecutionRequestSchema>) =>
    validateDescribe(
      create(DescribeCallbackExecutionRequestSchema, { namespace: 'n', callbackId: 'c', ...init }),
      POLICY,
      tokens,
    )
  const run = { namespace: 'n', callbackId: 'c', runId: RUN_ID }
  const longPollToken = tokens.longPollToken(run, 4)
  const answer = { callbackId: 'c', runId: RUN_ID, includeInput: true, includeOutcome: false }
  assert.deepEqual(describe({ runId: RUN_ID, includeInput: true }), { ...answer, seenCount: null })
  assert.deepEqual(describe({ runId: RUN_ID, includeInput: true, longPollToken }), { ...answer, seenCount: 4 })
  assert.equal(describe({ runId: RUN_ID.toUpperCase(), longPollToken }).seenCount, 4)
  assertRefused(() => describe({ longPollToken }), /^run_id is required together with a long_poll_token$/)
  assertRefused(() => describe({ longPollToken, callbackId: '' }), /^callback_id is required$/)
  assertRefused(() => describe({ longPollToken, runId: RUN_ID, namespace: 'm' }), /^long_poll_token is not one of this/)
  assertRefused(() => describe({ runId: RUN_ID, longPollToken: Uint8Array.of(1) }), /^long_poll_token is not one of/)
})

test('the texts of a termination are bounded', () => {
  const terminate = (init: MessageInitShape<typeof TerminateCallbackExecutionRequestSchema>) =>
    validateTerminate(
      create(TerminateCallbackExecutionRequestSchema, { namespace: 'n', callbackId: 'c', ...init }),
      POLICY,
    )
  assert.deepEqual(terminate({ reason: 'no' }), {
    callbackId: 'c',
    runId: null,
    identity: '',
    requestId: '',
    reason: 'no',
  })
  const long = 'x'.repeat(21)
  assertRefused(() => terminate({ identity: long, requestId: long, reason: long }), /^identity has 21 bytes/)
  assertRefused(() => terminate({ requestId: long, reason: long }), /^request_id has 21 bytes/)
  assertRefused(() => terminate({ reason: long }), /^reason has 21 bytes/)
})

test('a replay goes by the same id unless it names another', () => {
  const replay = (init: MessageInitShape<typeof ReplayCallbackExecutionRequestSchema>) =>
    validateReplay(
      create(ReplayCallbackExecutionRequestSchema, { namespace: 'n', sourceCallbackId: 'c', ...init }),
      POLICY,
    )
  const address = { callbackId: 'c', runId: null }
  assert.deepEqual(replay({}), { ...address, requestId: '', newCallbackId: 'c' })
  assert.deepEqual(replay({ requestId: 'r', callbackId: 'd' }), { ...address, requestId: 'r', newCallbackId: 'd' })
  assertRefused(() => replay({ sourceCallbackId: '', callbackId: 'd' }), /^source_callback_id is required$/)
  assertRefused(() => replay({ namespace: '', sourceCallbackId: '' }), /^namespace is required$/)
  assertRefused(() => replay({ requestId: 'x'.repeat(21) }), /^request_id has 21 bytes/)
  assertRefused(() => replay({ callbackId: 'x'.repeat(21) }), /^callback_id has 21 bytes/)
})

test('a list takes a query of known fields and a token of the same query', () => {
  const attributes = { Customer: 'Keyword' }
  const list = (init: MessageInitShape<typeof ListCallbackExecutionsRequestSchema>) =>
    validateList(create(ListCallbackExecutionsRequestSchema, { namespace: 'n', ...init }), POLICY, attributes, tokens)
  const query = 'Customer = "a"'
  const after = { sortAt: 5, createdAt: 4, runId: RUN_ID }
  const nextPageToken = tokens.listToken({ namespace: 'n', query }, after)
  const valid = list({ query, pageSize: 10, nextPageToken })
  assert.deepEqual([valid.pageSize, valid.after, valid.queryText], [10, after, query])
  assert.equal(list({}).query.condition, null)
  assertRefused(() => list({ namespace: '' }), /^namespace is required$/)
  assertRefused(() => list({ query: 'Nothing = 1' }), /^invalid query/)
  assertRefused(() => list({ query: 'GROUP BY ExecutionStatus' }), /^invalid query/)
  assertRefused(() => list({ nextPageToken }), /^next_page_token is not one of this list/)
})

test('a count may be grouped', () => {
  const request = create(CountCallbackExecutionsRequestSchema, { namespace: 'n', query: 'GROUP BY ExecutionStatus' })
  assert.equal(validateCount(request, {}).groupBy, 'ExecutionStatus')
  assertRefused(() => validateCount(create(CountCallbackExecutionsRequestSchema), {}), /^namespace is required$/)
})

test('no page size and one that is too large mean the largest', () => {
  assert.deepEqual(
    [-1, 0, 1, 1000, 1001].map((asked) => pageSizeOf(asked, 1000)),
    [1000, 1000, 1, 1000, 1000],
  )
})
