import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { cleanMetadata } from './clean-metadata.ts'
import type { JsonValue } from './metadata.ts'

test('what no database can hold is left out of keys and texts, however deep they stand', () => {
  const raw = { 'k\0': 'a\0b', list: ['\ud800', { 'x\udc00': 'y' }], n: 1, no: null, yes: true }
  assert.deepEqual(cleanMetadata(raw), { k: 'ab', list: ['\ufffd', { 'x\ufffd': 'y' }], n: 1, no: null, yes: true })
})

test('keys that become the same are one key', () => {
  assert.deepEqual(cleanMetadata({ k: 1, 'k\0': 2 }), { k: 2 })
})

test('values that are nested too deep are refused and not followed', () => {
  let deep: JsonValue = 'x'
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  assert.throws(
    () => cleanMetadata({ deep }),
    (error) => isAppError(error, 'invalid_argument'),
  )
})

test('more keys than frontmatter has room for are refused, also where they are to be removed', () => {
  const removing = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, null]))
  assert.equal(Object.keys(cleanMetadata(removing(16_384))).length, 16_384)
  assert.throws(() => cleanMetadata(removing(16_385)), /more than 16384 keys/)
})
