import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  create,
  type DescField,
  type DescMessage,
  equals,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import fc from 'fast-check'
import { file_commonplace_callbacks_v1_callbacks } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { file_temporal_api_callback_v1_message } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { file_temporal_api_common_v1_message } from '../../gen/temporal/api/common/v1/message_pb.js'
import { file_temporal_api_failure_v1_message } from '../../gen/temporal/api/failure/v1/message_pb.js'
import { file_temporal_api_workflowservice_v1_request_response } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { isAppError } from '../../platform/errors/app-error.ts'
import { readBinary } from './binary.ts'
import { readMessage, writeText } from './json.ts'
import { parseJson } from './parse-json.ts'

/** Every request, response and record. */
const MESSAGES = [
  ...file_temporal_api_workflowservice_v1_request_response.messages,
  ...file_commonplace_callbacks_v1_callbacks.messages,
  ...file_temporal_api_callback_v1_message.messages,
  ...file_temporal_api_common_v1_message.messages.filter(({ name }) => name !== 'Payload'),
  ...file_temporal_api_failure_v1_message.messages,
]

const bytes = fc.uint8Array({ maxLength: 8 })
const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'encoding', 'a_b', '5'))

const SCALARS: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.INT32]: fc.integer(),
  [ScalarType.INT64]: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  // JSON has no minus nought, and nothing equals NaN.
  [ScalarType.DOUBLE]: fc.double({ noNaN: true }).map((value) => value + 0),
  [ScalarType.BYTES]: bytes,
}

const encode = (value: string) => new TextEncoder().encode(value)
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value))

/** With every encoding that has a meaning, and values that are easily mistaken for something else. */
const payload = fc.oneof(
  json.map((data) => ({ metadata: { encoding: encode('json/plain') }, data: encode(data) })),
  fc
    .constantFrom(
      'null',
      '{}',
      '{"data":"eA=="}',
      '{"metadata":{}}',
      '{"_protoMessageType":"a"}',
      '1.0',
      '12345678901234567890',
    )
    .map((data) => ({ metadata: { encoding: encode('json/plain') }, data: encode(data) })),
  fc.constant({ metadata: { encoding: encode('binary/null') } }),
  fc.record({
    metadata: fc.dictionary(name, bytes, { maxKeys: 2, noNullPrototype: true }),
    data: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    externalPayloads: fc.array(fc.record({ sizeBytes: SCALARS[ScalarType.INT64] as fc.Arbitrary<bigint> }), {
      maxLength: 2,
    }),
  }),
)

const WELL_KNOWN: Record<string, fc.Arbitrary<unknown>> = {
  'google.protobuf.Timestamp': fc.record({
    seconds: fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }),
    nanos: fc.oneof(fc.constantFrom(0, 5_000_000, 6_000, 7), fc.integer({ min: 0, max: 999_999_999 })),
  }),
  'google.protobuf.Duration': fc
    .record({
      seconds: fc.bigInt({ min: 0n, max: 315_576_000_000n }),
      nanos: fc.oneof(fc.constantFrom(0, 5_000_000, 6_000, 7), fc.integer({ min: 0, max: 999_999_999 })),
      isNegative: fc.boolean(),
    })
    .map(({ seconds, nanos, isNegative }) =>
      isNegative ? { seconds: -seconds, nanos: 0 - nanos } : { seconds, nanos },
    ),
  // Read out of JSON as it will be written into it.
  'google.protobuf.Struct': fc
    .dictionary(name, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
    .map((value) => JSON.parse(JSON.stringify(value)) as object),
  'temporal.api.common.v1.Payload': payload,
}

/** A message of this kind with anything in it, to the given depth. */
function messageOf(desc: DescMessage, depth: number): fc.Arbitrary<object> {
  const wellKnown = WELL_KNOWN[desc.typeName]
  if (wellKnown !== undefined) return wellKnown as fc.Arbitrary<object>
  const members = desc.members.filter((member) => depth > 0 || member.kind === 'field')
  const model = members.flatMap((member) => {
    if (member.kind === 'field') {
      return member.message === undefined || depth > 0 ? [[member.localName, fieldOf(member, depth)] as const] : []
    }
    const cases = member.fields.map((field) => fieldOf(field, depth).map((value) => ({ case: field.localName, value })))
    return [[member.localName, fc.oneof(...cases)] as const]
  })
  return fc.record(Object.fromEntries(model), { requiredKeys: [], noNullPrototype: true })
}

function fieldOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const value = valueOfField(field, depth)
  if (field.fieldKind === 'list') return fc.array(value, { maxLength: 2 })
  return field.fieldKind === 'map' ? fc.dictionary(name, value, { maxKeys: 2, noNullPrototype: true }) : value
}

function valueOfField(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.message !== undefined) return messageOf(field.message, depth - 1)
  if (field.enum !== undefined)
    return fc.oneof(fc.constantFrom(...field.enum.values.map(({ number }) => number)), fc.integer())
  return SCALARS[field.scalar as ScalarType] as fc.Arbitrary<unknown>
}

const anyMessage = fc
  .constantFrom(...MESSAGES)
  .chain((desc) => messageOf(desc, 4).map((init) => ({ desc, message: create(desc, init as never) as Message })))

for (const shorthand of [true, false]) {
  test(`message to JSON to message is the identity ${shorthand ? 'with' : 'without'} the short form`, () => {
    fc.assert(
      fc.property(anyMessage, fc.boolean(), ({ desc, message }, pretty) => {
        const written = writeText(desc, message, { shorthand, pretty })
        const read = readMessage(desc, parseJson(Buffer.from(written)), { shorthand })
        assert.ok(equals(desc, message, read), written)
      }),
      { numRuns: 1_000 },
    )
  })
}

test('without the short form the JSON is what the library for protobuf writes', () => {
  fc.assert(
    fc.property(anyMessage, ({ desc, message }) => {
      const ours = JSON.parse(writeText(desc, message, { shorthand: false, pretty: false })) as unknown
      assert.deepEqual(ours, JSON.parse(JSON.stringify(toJson(desc, message))))
    }),
    { numRuns: 1_000 },
  )
})

test('message to bytes to message is the identity', () => {
  fc.assert(
    fc.property(anyMessage, ({ desc, message }) => {
      assert.ok(equals(desc, message, fromBinary(desc, toBinary(desc, message))))
    }),
  )
})

function refusesOnly(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!isAppError(error, 'invalid_argument')) throw error
    assert.ok(error.message.length < 1_000 && error.message.isWellFormed())
  }
}

test('hostile JSON is read or refused as an invalid argument, never anything else', () => {
  /** Valid JSON of a message with something else put into one place of it. */
  const spoiled = fc
    .record({ message: anyMessage, other: fc.jsonValue(), at: fc.nat(), key: fc.option(name), shorthand: fc.boolean() })
    .map(({ message: { desc, message }, other, at, key, shorthand }) => {
      const whole = JSON.parse(writeText(desc, message, { shorthand, pretty: false })) as object
      const places: { in: Record<string, unknown>; key: string }[] = []
      const visit = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return
        for (const inner of Object.keys(value)) {
          places.push({ in: value as Record<string, unknown>, key: inner })
          visit((value as Record<string, unknown>)[inner])
        }
      }
      visit(whole)
      const place = places[at % Math.max(1, places.length)] ?? { in: whole as Record<string, unknown>, key: 'x' }
      // The length of a list cannot be just anything, and other names in it are not written.
      place.in[Array.isArray(place.in) ? place.key : (key ?? place.key)] = other
      return { desc, text: JSON.stringify(whole), shorthand }
    })
  fc.assert(
    fc.property(spoiled, ({ desc, text: body, shorthand }) => {
      refusesOnly(() => readMessage(desc, parseJson(Buffer.from(body)), { shorthand }))
    }),
    { numRuns: 3_000 },
  )
  fc.assert(
    fc.property(fc.constantFrom(...MESSAGES), fc.anything(), (desc, value) => {
      refusesOnly(() => readMessage(desc, value))
    }),
  )
})

test('hostile bytes are read or refused as an invalid argument, never anything else', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MESSAGES), fc.uint8Array({ maxLength: 40 }), (desc, body) => {
      refusesOnly(() => parseJson(body))
      refusesOnly(() => readBinary(desc, body))
    }),
    { numRuns: 2_000 },
  )
})
