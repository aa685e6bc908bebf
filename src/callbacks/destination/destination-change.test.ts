import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpdateDestinationRequestSchema } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { readMessage } from '../wire/json.ts'
import { destinationDifference, inheritNulls, readDestinationChange } from './destination-change.ts'
import { readDestinationName } from './destination-name.ts'
import { destinationToken, readDestinationToken } from './destination-token.ts'
import type { StoredDestination } from './store-destinations.ts'

function read(json: unknown) {
  return readDestinationChange(readMessage(UpdateDestinationRequestSchema, inheritNulls(json) as object))
}

test('limits are taken up to those of the settings, and not beyond', () => {
  assert.equal(read({ concurrency: 1, rps: 0 }).concurrency, 1)
  assert.deepEqual(read({ concurrency: 100_000, rps: 1_000_000, paused: true }), {
    concurrency: 100_000,
    rps: 1_000_000,
    isPaused: true,
  })
  for (const concurrency of [0, -1, 100_001]) assert.throws(() => read({ concurrency }), /between 1 and 100000/)
  for (const rps of [-0.1, 1_000_001, 'NaN', 'Infinity']) assert.throws(() => read({ rps }), /between 0/)
})

test('null, or a name in `inherit`, lets a limit follow the settings again', () => {
  const both = { concurrency: null, rps: null, isPaused: undefined }
  assert.deepEqual(read({ concurrency: null, rps: null }), both)
  assert.deepEqual(read({ inherit: ['concurrency', 'rps'] }), both)
  assert.deepEqual(read({ rps: null, inherit: ['concurrency'] }), both)
  assert.deepEqual(read({ rps: null, inherit: null }), { ...both, concurrency: undefined })
  assert.throws(() => read({ inherit: ['paused'] }), /among concurrency and rps/)
  assert.throws(() => read({ rps: 5, inherit: ['rps'] }), /must not name rps/)
  for (const json of [null, 'x', [], { paused: true }]) assert.equal(inheritNulls(json), json)
})

test('the audit log is told what differs, and nothing that was so before', () => {
  const before = { concurrency: 5, rps: null, isPaused: false } as StoredDestination
  assert.deepEqual(destinationDifference(before, {}), {})
  assert.deepEqual(destinationDifference(before, { concurrency: 5, rps: undefined, isPaused: false }), {})
  assert.deepEqual(destinationDifference(before, { concurrency: null, rps: 2, isPaused: true }), {
    concurrency: { old: 5, new: null },
    rps: { old: null, new: 2 },
    paused: { old: false, new: true },
  })
})

test('a destination has one spelling, and is nothing but scheme, host and port', () => {
  for (const text of ['https://Shop.Example', 'HTTPS://shop.example:443/']) {
    assert.equal(readDestinationName(text), 'https://shop.example')
  }
  assert.equal(readDestinationName('http://shop.example:8080'), 'http://shop.example:8080')
  for (const text of [
    ...[
      '',
      'shop.example',
      'ftp://shop.example',
      'https://shop.example/a',
      'https://shop.example/?a',
      '//shop.example',
    ],
    ...['https://shop.example#a', 'https://user@shop.example', `https://${'a'.repeat(2_000)}.example`],
  ]) {
    assert.throws(() => readDestinationName(text), /destination must be the scheme and host/, text)
  }
})

test('a destination is no longer than one may be once its letters are those of a host name', () => {
  const letters = Array.from({ length: 900 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)))
  assert.throws(
    () => readDestinationName(`https://${letters.join('')}.example`),
    /destination must be the scheme and host/,
  )
})

test('the place in the list of destinations comes back, and nothing else is taken for one', () => {
  const destination = 'https://münchen.example:8443'
  assert.equal(readDestinationToken(destinationToken(destination)), destination)
  assert.equal(readDestinationToken(new Uint8Array()), '')
  for (const bytes of [
    Buffer.from('ftp://a'),
    Buffer.from('http\0'),
    Buffer.from([0x68, 0xff]),
    Buffer.alloc(4_001, 'http'),
  ]) {
    assert.throws(() => readDestinationToken(bytes), /next_page_token/)
  }
})
