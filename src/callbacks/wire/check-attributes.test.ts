import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { type AttributeTypes, checkAttributes } from './check-attributes.ts'
import { readMessage } from './json.ts'

const LIMITS = { keys: 3, value_bytes: 10, total_bytes: 20 }

function check(indexedFields: Record<string, unknown>, types: AttributeTypes = {}) {
  const declared = { ...Object.fromEntries(Object.keys(indexedFields).map((name) => [name, 'Int'])), ...types }
  return checkAttributes(readMessage(SearchAttributesSchema, { indexedFields }), declared, LIMITS)
}

test('as many attributes and bytes as the limits name are taken, and not one more', () => {
  assert.equal(check({ a: 1, b: 2, c: 3 }).length, 3)
  assert.throws(() => check({ a: 1, b: 2, c: 3, d: 4 }), /4 keys, which exceeds the limit of 3/)
  const tenDigits = 1_234_567_890
  assert.equal(check({ a: tenDigits, b: tenDigits }).length, 2)
  assert.throws(() => check({ a: tenDigits * 10 }), /"a" has 11 bytes, which exceeds the limit of 10/)
  assert.throws(() => check({ a: tenDigits, b: tenDigits, c: 1 }), /21 bytes in all, which exceeds the limit of 20/)
})

test('what stands beside the data has at most 64 KiB in all, and is looked at after the data', () => {
  const encoding = Buffer.from('json/plain').toString('base64')
  const attribute = (bytes: number, data = 'MQ==') => ({
    metadata: { encoding, also: Buffer.alloc(bytes).toString('base64') },
    data,
  })
  assert.equal(check({ a: attribute(30_000), b: attribute(30_000) }).length, 2)
  assert.throws(() => check({ a: attribute(35_000), b: attribute(35_000) }), {
    code: 'invalid_argument',
    message: /^search attributes have 70\d\d\d bytes of metadata, which exceeds the limit of 65536$/,
  })
  const external = { ...attribute(0), externalPayloads: Array(9_000).fill({ sizeBytes: '9000000000000000000' }) }
  assert.throws(() => check({ a: external }), /bytes of metadata/)
  const long = Buffer.from('12345678901').toString('base64')
  assert.throws(() => check({ a: attribute(70_000), b: attribute(0, long) }), /"b" has 11 bytes/)
})

test('what the server sets itself is no attribute, even where a namespace has declared one of that name', () => {
  assert.throws(() => check({ StateTransitionCount: 1 }), /"StateTransitionCount" is set by the server/)
})

test('a name that is too long to be shown is shown in part', () => {
  const name = 'n'.repeat(130)
  assert.throws(() => check({ [name]: 'x' }), { message: new RegExp(`^search attribute "${name}" must have`) })
  assert.throws(() => check({ [`${name}n`]: 'x' }), { message: new RegExp(`^search attribute "${name}…" must have`) })
})
