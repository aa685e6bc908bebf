import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { readSigningSecret, signatureOf } from './signature.ts'

// The example that implementations of Standard Webhooks share.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SIGNED = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: Buffer.from('{"test": 2432232314}'),
}
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

test('signs as the standard does', () => {
  assert.equal(signatureOf([readSigningSecret(SECRET)], SIGNED), SIGNATURE)
})

test('every secret signs, in the order they are given', () => {
  const other = Buffer.alloc(24, 7)
  const [first, second, more] = signatureOf([other, readSigningSecret(SECRET)], SIGNED).split(' ')
  assert.equal(first, signatureOf([other], SIGNED))
  assert.equal(second, SIGNATURE)
  assert.equal(more, undefined)
})

test('without a secret there is no signature', () => {
  assert.equal(signatureOf([], SIGNED), '')
})

test('the bytes of the body are signed as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array({ minLength: 24, maxLength: 64 }), (body, secret) => {
      const all = Buffer.concat([Buffer.from(`${SIGNED.id}.${SIGNED.timestamp}.`), body])
      const expected = `v1,${createHmac('sha256', secret).update(all).digest('base64')}`
      assert.equal(signatureOf([secret], { ...SIGNED, body }), expected)
    }),
  )
})

test('reads back every secret of 24 to 64 bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (secret) => {
      assert.deepEqual(
        Buffer.from(readSigningSecret(`whsec_${Buffer.from(secret).toString('base64')}`)),
        Buffer.from(secret),
      )
    }),
  )
})

test('the shortest and the longest secret are taken', () => {
  for (const length of [24, 64]) {
    assert.equal(readSigningSecret(`whsec_${Buffer.alloc(length, 1).toString('base64')}`).length, length)
  }
})

test('refuses what is no secret and does not repeat it', () => {
  const encoded = SECRET.slice(6)
  for (const text of [
    '',
    'whsec_',
    encoded,
    `WHSEC_${encoded}`,
    `whsec_${encoded} `,
    `whsec_${encoded}=`,
    `whsec_${encoded.slice(0, -1)}`,
    `whsec_${encoded}!!!!`,
    `whsec_${Buffer.alloc(23, 1).toString('base64')}`,
    `whsec_${Buffer.alloc(65, 1).toString('base64')}`,
  ]) {
    assert.throws(
      () => readSigningSecret(text),
      (error) => isAppError(error, 'invalid_argument') && !error.message.includes('MfKQ'),
      text,
    )
  }
})
