import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  type CallbackExecutionCompletion,
  CallbackExecutionCompletionSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import type { Payload } from '../../gen/temporal/api/common/v1/message_pb.js'
import { SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { FailureSchema } from '../../gen/temporal/api/failure/v1/message_pb.js'
import { isAppError } from '../../platform/errors/app-error.ts'
import { readMessage, writeText } from './json.ts'
import { parseJson } from './parse-json.ts'

const IN_SHORT = { shorthand: true, pretty: false }
const IN_FULL = { shorthand: false, pretty: false }

function readCompletion(success: string, shorthand = true): CallbackExecutionCompletion {
  return readMessage(CallbackExecutionCompletionSchema, parseJson(Buffer.from(`{"success":${success}}`)), { shorthand })
}

function readPayload(json: string, shorthand = true): { metadata: Record<string, string>; data: string } {
  const { metadata, data } = readCompletion(json, shorthand).result.value as Payload
  const texts = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value).toString()])
  return { metadata: Object.fromEntries(texts), data: Buffer.from(data).toString() }
}

function payload(metadata: Record<string, string>, data: string): CallbackExecutionCompletion {
  const encoded = Object.entries(metadata).map(([key, value]) => [key, new TextEncoder().encode(value)])
  return create(CallbackExecutionCompletionSchema, {
    result: { case: 'success', value: { metadata: Object.fromEntries(encoded), data: new TextEncoder().encode(data) } },
  })
}

function writePayload(completion: CallbackExecutionCompletion, options = IN_SHORT): string {
  return writeText(CallbackExecutionCompletionSchema, completion, options).slice('{"success":'.length, -1)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

test('any value in the place of a payload is the payload that holds it', () => {
  const plain = { encoding: 'json/plain' }
  for (const [json, data] of [
    ['{"paid": true}', '{"paid":true}'],
    ['{}', '{}'],
    ['[]', '[]'],
    ['"text"', '"text"'],
    ['""', '""'],
    ['0', '0'],
    ['false', 'false'],
    ['{"data": "x", "more": 1}', '{"data":"x","more":1}'],
    ['{"externalPayloads": []}', '{"externalPayloads":[]}'],
  ] as const) {
    assert.deepEqual(readPayload(json), { metadata: plain, data }, json)
  }
  assert.deepEqual(readPayload('null'), { metadata: { encoding: 'binary/null' }, data: '' })
  assert.deepEqual(readPayload('{"_protoMessageType": "a.B", "id": 5}'), {
    metadata: { encoding: 'json/protobuf', messageType: 'a.B' },
    data: '{"id":5}',
  })
})

test('numbers in a value keep the digits they were written with', () => {
  for (const json of [
    '12345678901234567890',
    '{"a":[9007199254740993,-0,1.0,1e400,0.1000]}',
    '{"a":1.10,"b":"1.10"}',
    '-12345678901234567890.123456789',
  ]) {
    assert.equal(readPayload(json).data, json)
    assert.equal(writePayload(readCompletion(json)), json)
  }
})

test('a payload that is written as the message it is stays what it is', () => {
  const encoded = { metadata: { encoding: base64('binary/plain') }, data: base64('abc') }
  const read = { metadata: { encoding: 'binary/plain' }, data: 'abc' }
  assert.deepEqual(readPayload(JSON.stringify(encoded)), read)
  assert.deepEqual(readPayload(JSON.stringify({ ...encoded, externalPayloads: [{ sizeBytes: '5' }] })), read)
  assert.deepEqual(readPayload(JSON.stringify({ ...encoded, external_payloads: [] })), read)
  assert.deepEqual(readPayload('{"data": ""}'), { metadata: {}, data: '' })
  assert.deepEqual(readPayload('{"metadata": {}}'), { metadata: {}, data: '' })
})

test('what looks like the message but is none is refused', () => {
  for (const [json, place] of [
    ['{"data": "***"}', 'success.data must be base64'],
    ['{"data": 5}', 'success.data must be base64'],
    ['{"metadata": {"a": 5}}', 'success.metadata.a must be base64'],
    ['{"_protoMessageType": 5}', 'success has a _protoMessageType that is not the name of a message'],
    ['{"_protoMessageType": ""}', 'success has a _protoMessageType that is not the name of a message'],
  ] as const) {
    assert.throws(
      () => readPayload(json),
      (error) => isAppError(error, 'invalid_argument') && error.message === place,
    )
  }
})

test('without the short form a payload is the message only, and null is nothing', () => {
  assert.deepEqual(readPayload('{}', false), { metadata: {}, data: '' })
  assert.equal(readCompletion('null', false).result.case, undefined)
  assert.throws(() => readCompletion('{"paid": true}', false), /success\.paid is not a known field/)
  assert.throws(() => readCompletion('5', false), /success must be a JSON object/)
})

test('json/plain is written as its value, binary/null as null, everything else as the message', () => {
  const plain = { encoding: 'json/plain' }
  assert.equal(writePayload(payload(plain, '{ "b": 1, "a": [ ] }')), '{"b":1,"a":[]}')
  assert.equal(writePayload(payload(plain, '"x"')), '"x"')
  assert.equal(writePayload(payload({ encoding: 'binary/null' }, '')), 'null')
  assert.equal(writePayload(payload({}, '')), '{}')
  const others = [
    payload({ encoding: 'binary/null' }, 'x'),
    payload({ encoding: 'json/protobuf', messageType: 'a.B' }, '{}'),
    payload({ ...plain, type: 'Keyword' }, '"x"'),
    payload({ encoding: 'binary/plain' }, '{}'),
    payload(plain, 'no JSON'),
    payload(plain, ''),
    payload(plain, `${'['.repeat(200)}${']'.repeat(200)}`),
  ]
  for (const other of others) assert.equal(writePayload(other), writePayload(other, IN_FULL))
})

test('a value that would be read as another payload is written as the message', () => {
  const plain = { encoding: 'json/plain' }
  for (const data of ['null', '{"data":"eA=="}', '{"metadata":{}}', '{"_protoMessageType":"a.B"}']) {
    const completion = payload(plain, data)
    assert.equal(writePayload(completion), writePayload(completion, IN_FULL))
    assert.deepEqual(readPayload(writePayload(completion)), { metadata: plain, data })
  }
})

test('sizes of parts that are kept elsewhere are not taken for a value', () => {
  const completion = create(CallbackExecutionCompletionSchema, {
    result: { case: 'success', value: { externalPayloads: [{ sizeBytes: 5n }] } },
  })
  assert.equal(writePayload(completion), '{"externalPayloads":[{"sizeBytes":"5"}],"data":""}')
  assert.deepEqual(readCompletion(writePayload(completion)), completion)
})

test('the short form holds inside lists of payloads, in failures and in search attributes', () => {
  const failure = {
    encodedAttributes: { a: 1 },
    applicationFailureInfo: { details: { payloads: ['x', null, [1]] } },
  }
  assert.equal(
    writeText(FailureSchema, readMessage(FailureSchema, failure), IN_SHORT),
    JSON.stringify({
      applicationFailureInfo: failure.applicationFailureInfo,
      encodedAttributes: failure.encodedAttributes,
    }),
  )
  const bare = readMessage(FailureSchema, { applicationFailureInfo: { details: ['x', null, [1]] } })
  assert.deepEqual(bare.failureInfo, readMessage(FailureSchema, failure).failureInfo)
  const attributes = { indexedFields: { A: 'x', B: 5, C: ['a', 'b'], D: null } }
  assert.equal(
    writeText(SearchAttributesSchema, readMessage(SearchAttributesSchema, attributes), IN_SHORT),
    JSON.stringify(attributes),
  )
})
