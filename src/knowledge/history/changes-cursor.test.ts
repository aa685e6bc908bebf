import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
import { decodeChangesCursor, encodeChangesCursor } from './changes-cursor.ts'

const RESTORE = '0197a4a0-1111-7222-8333-444455556666'

test('a cursor comes back as it was given', () => {
  for (const restore of [null, RESTORE]) {
    for (const [seq, toldAt] of [
      [0, 0],
      [1, 2],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ] as const) {
      assert.deepEqual(decodeChangesCursor(encodeChangesCursor({ seq, toldAt, restore })), { seq, toldAt, restore })
    }
  }
})

test('the form of a cursor stays: clients have kept theirs', () => {
  assert.equal(encodeChangesCursor({ seq: 7, toldAt: 8, restore: null }), 'MTo3Ojg')
})

test('whatever is no cursor is refused', () => {
  const texts = [
    '',
    '1:2',
    '1:2:',
    '2:1:2',
    '1:2:3:',
    '1:2:3:x',
    `1:2:3:${RESTORE}0`,
    '1:-2:3',
    ' 1:2:3',
    '1:2:3\n',
    '1:2.5:3',
  ]
  for (const text of [...texts, '1:9999999999999999:1', '1:1:9999999999999999', '1:12345678901234567:1']) {
    const cursor = Buffer.from(text).toString('base64url')
    assert.throws(
      () => decodeChangesCursor(cursor),
      (error) => isAppError(error, 'invalid_argument'),
      text,
    )
  }
  assert.throws(() => decodeChangesCursor('A'.repeat(101)), /not a cursor/)
})
