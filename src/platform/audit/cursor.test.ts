import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from './cursor.ts'

test('gives back the place it was made from', () => {
  const natural = fc.maxSafeNat()
  fc.assert(
    fc.property(natural, natural, (at, position) => {
      assert.deepEqual(decodeCursor(encodeCursor({ at, position })), { at, position })
    }),
  )
})

test('refuses everything else as a bad request', () => {
  const refused = (cursor: string) => assert.throws(() => decodeCursor(cursor), { code: 'invalid_argument' })
  const of = (text: string) => Buffer.from(text).toString('base64url')
  for (const cursor of ['', 'x', of('1:2'), of('2:1:1'), of('1:-1:1'), of('1:1e3:1'), of('1:9999999999999999:1')])
    refused(cursor)
  fc.assert(fc.property(fc.string({ maxLength: 200 }), refused))
})
