import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  DestinationSchema,
  NamespaceSchema,
  UpdateDestinationRequestSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  CallbackExecutionInfoSchema,
  CallbackExecutionOutcomeSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import { CallbackSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { FailureSchema } from '../../gen/temporal/api/failure/v1/message_pb.js'
import {
  DescribeCallbackExecutionRequestSchema,
  ListCallbackExecutionsRequestSchema,
  StartCallbackExecutionRequestSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { isAppError } from '../../platform/errors/app-error.ts'
import { readMessage, writeMessage, writeText } from './json.ts'
import { parseJson } from './parse-json.ts'

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    assert.ok(isAppError(error, 'invalid_argument'), String(error))
    return error.message
  }
  return assert.fail('accepted')
}

function readStart(json: object) {
  return readMessage(StartCallbackExecutionRequestSchema, parseJson(Buffer.from(JSON.stringify(json))))
}

test('fields are read in both spellings', () => {
  for (const json of [
    { callbackId: 'a', requestId: 'r' },
    { callback_id: 'a', request_id: 'r' },
  ]) {
    const { callbackId, requestId } = readStart(json)
    assert.deepEqual([callbackId, requestId], ['a', 'r'])
  }
  assert.equal(
    refusal(() => readStart({ callback_id: 'a', callbackId: 'a' })),
    'callback_id and callbackId are the same field: give one of them',
  )
})

test('null is the same as nothing', () => {
  assert.deepEqual(
    readStart({ callbackId: null, callback: null, scheduleToCloseTimeout: null, searchAttributes: null }),
    create(StartCallbackExecutionRequestSchema),
  )
})

test('a field that is not known is named with the way to it', () => {
  assert.equal(
    refusal(() => readStart({ nonsense: 1 })),
    'nonsense is not a known field',
  )
  assert.equal(
    refusal(() => readStart({ callback: { nexus: { Url: '' } } })),
    'callback.nexus.Url is not a known field',
  )
  assert.equal(
    refusal(() => readStart({ callback: { links: [{}, { batchJob: { id: '' } }] } })),
    'callback.links[1].batchJob.id is not a known field',
  )
  assert.equal(
    refusal(() => readStart({ nothing: null })),
    'nothing is not a known field',
  )
  assert.ok(refusal(() => readStart({ ['x'.repeat(100_000)]: 1 })).length < 200)
})

test('two members of a oneof are refused', () => {
  assert.equal(
    refusal(() => readStart({ completion: { success: 1, failure: {} } })),
    'completion.failure excludes success: give only one of them',
  )
  assert.match(
    refusal(() => readStart({ callback: { internal: {}, nexus: {} } })),
    /^callback\.nexus excludes internal/,
  )
  assert.equal(readStart({ callback: { internal: null, nexus: {} } }).callback?.variant.case, 'nexus')
})

test('values of the wrong type are named', () => {
  const cases: [json: object, message: string][] = [
    [{ callbackId: 5 }, 'callbackId must be a text'],
    [{ callbackId: '\ud800' }, 'callbackId must be a text of whole Unicode characters'],
    [{ callback: [] }, 'callback must be a JSON object'],
    [{ callback: { links: {} } }, 'callback.links must be an array'],
    [{ callback: { links: [null] } }, 'callback.links[0] must be a JSON object'],
    [{ callback: { nexus: { header: [] } } }, 'callback.nexus.header must be a JSON object'],
    [{ callback: { nexus: { header: { a: null } } } }, 'callback.nexus.header.a must be a text'],
    [{ callback: { internal: { data: '***' } } }, 'callback.internal.data must be base64'],
    [{ startDelay: 5 }, 'startDelay must be a duration of at most 10,000 years in seconds, such as "10s" or "0.5s"'],
    [{ retryPolicy: { maximumAttempts: 1.5 } }, 'retryPolicy.maximumAttempts must be a whole number of 32 bits'],
    [{ retryPolicy: { maximumAttempts: 2 ** 31 } }, 'retryPolicy.maximumAttempts must be a whole number of 32 bits'],
    [{ retryPolicy: { backoffCoefficient: 'x' } }, 'retryPolicy.backoffCoefficient must be a number'],
    [
      { completion: { failure: { serverFailureInfo: { nonRetryable: 'true' } } } },
      'completion.failure.serverFailureInfo.nonRetryable must be true or false',
    ],
    [
      { completion: { failure: { timeoutFailureInfo: { timeoutType: 'SOON' } } } },
      'completion.failure.timeoutFailureInfo.timeoutType must be one of the names of TimeoutType, or a number',
    ],
  ]
  for (const [json, message] of cases) {
    assert.equal(
      refusal(() => readStart(json)),
      message,
    )
  }
  for (const body of ['[]', '"text"', 'null', '12345678901234567890']) {
    assert.equal(
      refusal(() => readMessage(StartCallbackExecutionRequestSchema, parseJson(Buffer.from(body)))),
      'The request must be a JSON object',
    )
  }
})

test('a body of nothing is a message with nothing set', () => {
  assert.deepEqual(
    readMessage(ListCallbackExecutionsRequestSchema, parseJson(new Uint8Array())),
    create(ListCallbackExecutionsRequestSchema),
  )
})

test('enums are read by name and by number, and an unknown number is kept', () => {
  for (const status of ['CALLBACK_EXECUTION_STATUS_FAILED', 3]) {
    assert.equal(readMessage(CallbackExecutionInfoSchema, { status }).status, 3)
  }
  assert.match(
    refusal(() => readMessage(CallbackExecutionInfoSchema, { status: '3' })),
    /^status must be one of the names of CallbackExecutionStatus, or a number/,
  )
  const later = readMessage(CallbackExecutionInfoSchema, { state: 77 })
  assert.equal(later.state, 77)
  assert.deepEqual(writeMessage(CallbackExecutionInfoSchema, later), { state: 77 })
})

test('64-bit numbers are read from texts and numbers without losing a digit', () => {
  const read = (written: string) =>
    readMessage(CallbackExecutionInfoSchema, parseJson(Buffer.from(`{"stateTransitionCount": ${written}}`)))
      .stateTransitionCount
  assert.equal(read('9223372036854775807'), 9223372036854775807n)
  assert.equal(read('"-9223372036854775808"'), -9223372036854775808n)
  assert.equal(read('9007199254740993'), 9007199254740993n)
  assert.equal(read('1e3'), 1000n)
  assert.equal(read('5.0'), 5n)
  for (const wrong of ['9223372036854775808', '1.5', '""', '" 5"', '"0x10"', '1e30', 'true', '"5 "', '{}']) {
    assert.match(
      refusal(() => read(wrong)),
      /stateTransitionCount must be a whole number of 64 bits/,
      wrong,
    )
  }
})

test('bytes are read in both alphabets, with and without padding', () => {
  const read = (longPollToken: string) =>
    readMessage(DescribeCallbackExecutionRequestSchema, { longPollToken }).longPollToken
  for (const text of ['+/8=', '+/8', '-_8=', '-_8']) assert.deepEqual(read(text), Uint8Array.of(0xfb, 0xff))
  assert.deepEqual(read(''), new Uint8Array())
  for (const wrong of ['A', 'AA=', 'AAA==', 'A===', 'AA AA', 'AAAA=', '=', 'AA\n==']) {
    assert.match(
      refusal(() => read(wrong)),
      /longPollToken must be base64/,
      wrong,
    )
  }
})

test('a duration beyond ten thousand years is refused wherever it stands, and so is what only looks like one', () => {
  const readDelay = (nextRetryDelay: string) => {
    const { failureInfo } = readMessage(FailureSchema, { applicationFailureInfo: { nextRetryDelay } })
    return failureInfo.case === 'applicationFailureInfo' ? failureInfo.value.nextRetryDelay : assert.fail()
  }
  assert.equal(readDelay('-315576000000s')?.seconds, -315_576_000_000n)
  for (const text of ['315576000001s', '-315576000001s', ' 1s', '1s ', '1.s', '0.0000000001s', '1m', 's']) {
    assert.match(
      refusal(() => readDelay(text)),
      /10,000 years/,
      text,
    )
  }
})

test('times and durations are read and written as RFC 3339 and seconds', () => {
  const json = {
    createTime: '2026-01-31T12:00:00Z',
    closeTime: '2026-01-31T12:00:00.123456789Z',
    scheduleToCloseTimeout: '0.500s',
  }
  const info = readMessage(CallbackExecutionInfoSchema, json)
  assert.deepEqual([info.closeTime?.seconds, info.closeTime?.nanos], [1769860800n, 123_456_789])
  assert.deepEqual(writeMessage(CallbackExecutionInfoSchema, info), json)
})

test('nesting is bounded', () => {
  const deep = (levels: number) => {
    let failure: object = {}
    for (let level = 0; level < levels; level++) failure = { cause: failure }
    return failure
  }
  assert.ok(readMessage(FailureSchema, deep(90)))
  assert.match(
    refusal(() => readMessage(FailureSchema, deep(5_000))),
    /is nested too deeply$/,
  )
  assert.match(
    refusal(() => parseJson(Buffer.from('['.repeat(101) + ']'.repeat(101)))),
    /more than 100 levels/,
  )
  assert.match(
    refusal(() => parseJson(Buffer.from('['.repeat(3_000_000)))),
    /more than 100 levels/,
  )
})

test('a body that is no JSON is refused without repeating it', () => {
  for (const body of ['{', 'secret', '{"a": 1,}', '\ufeff\ufeff{}', '{"a": 01}', '{"a": .5}', "{'a': 1}"]) {
    assert.equal(
      refusal(() => parseJson(Buffer.from(body))),
      'The request body is not valid JSON',
    )
  }
  assert.match(
    refusal(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22))),
    /not UTF-8/,
  )
  assert.deepEqual(parseJson(Buffer.from('\ufeff{}')), {})
})

test('defaults are left out, what is set by name is written', () => {
  assert.deepEqual(writeMessage(StartCallbackExecutionRequestSchema, create(StartCallbackExecutionRequestSchema)), {})
  assert.deepEqual(
    writeMessage(CallbackExecutionOutcomeSchema, readMessage(CallbackExecutionOutcomeSchema, { success: {} })),
    { success: {} },
  )
  assert.deepEqual(writeMessage(CallbackSchema, readMessage(CallbackSchema, { nexus: { url: '', header: {} } })), {
    nexus: {},
  })
  const destination = create(DestinationSchema, { destination: 'https://a.example', waiting: 0, paused: false })
  assert.deepEqual(writeMessage(DestinationSchema, destination), {
    destination: 'https://a.example',
    waiting: 0,
    paused: false,
  })
})

test('an optional field tells nothing from nought', () => {
  const { concurrency, rps, paused } = readMessage(UpdateDestinationRequestSchema, { rps: 0, paused: false })
  assert.deepEqual([concurrency, rps, paused], [undefined, 0, false])
})

test('a name that JavaScript gives a meaning is a name like any other', () => {
  const text = '{"nexus":{"header":{"__proto__":"a","constructor":"b"}}}'
  const callback = readMessage(CallbackSchema, JSON.parse(text))
  const options = { shorthand: true, pretty: false }
  assert.equal(writeText(CallbackSchema, callback, options), text)
  assert.match(
    refusal(() => readMessage(CallbackSchema, JSON.parse('{"__proto__":{}}'))),
    /^__proto__ is not a known field/,
  )
  assert.match(
    refusal(() => readMessage(CallbackSchema, { constructor: {} })),
    /^constructor is not a known field/,
  )
})

test('settings of a namespace are any JSON', () => {
  const policy = { retry: { maxInterval: '1h', coefficient: 2.5 }, deniedPorts: [22, 25], enabled: false, none: null }
  const text = JSON.stringify({ name: 'a', policy })
  const namespace = readMessage(NamespaceSchema, parseJson(Buffer.from(text)))
  assert.deepEqual(namespace.policy, policy)
  assert.equal(writeText(NamespaceSchema, namespace, { shorthand: true, pretty: false }), text)
})

test('pretty text is indented', () => {
  const message = readMessage(CallbackSchema, { nexus: { url: 'https://a.example' } })
  assert.equal(
    writeText(CallbackSchema, message, { shorthand: true, pretty: true }),
    '{\n  "nexus": {\n    "url": "https://a.example"\n  }\n}',
  )
})

test('pretty text is not indented where that would make a hundred times as much of it', () => {
  const pretty = (levels: number, values: number) => {
    const policy = { deep: JSON.parse(`${'['.repeat(levels)}"[{,"${',1'.repeat(values)}${']'.repeat(levels)}`) }
    const message = readMessage(NamespaceSchema, { name: 'a', policy })
    return { text: writeText(NamespaceSchema, message, { shorthand: true, pretty: true }), json: { name: 'a', policy } }
  }
  const deep = pretty(90, 100_000)
  assert.equal(deep.text, JSON.stringify(deep.json))
  for (const { text, json } of [pretty(90, 1_000), pretty(2, 400_000)])
    assert.equal(text, JSON.stringify(json, null, 2))
})

test('numbers keep their digits wherever they stand, and a long list with one of them is read without asking for each', () => {
  const texts = [
    '1.0',
    '{"__proto__":{"a":1.50,"b":["1.0\\"",-0,12345678901234567890]},"":1e3,"c":"2.0","d":[[],{},null,true,1.5]}',
    `[${'1,'.repeat(100_000)}1.0]`,
  ]
  for (const text of texts) assert.equal(JSON.stringify(parseJson(Buffer.from(text))), text)
  for (const text of ['{1.0:2}', '[01.0]', '[1.]', '["1.0]', '[1.0', '"\\', '[1.0,]', '-']) {
    assert.throws(() => parseJson(Buffer.from(text)), /is not valid JSON/, text)
  }
})
