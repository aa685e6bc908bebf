import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { requestHeaders } from '../../src/callbacks/destination/send/request-headers.ts'
import { readSigningSecret, signatureOf } from '../../src/callbacks/destination/send/signature.ts'
import {
  CallbackNotVerified,
  type CallbackToVerify,
  type VerificationProblem,
  verifyCallback,
} from '../../src/callbacks/receiver-kit/verify.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { startReceiver } from '../support/receivers/receiver.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const ID = '01970000-0000-7000-8000-000000000001'
const NOW = 1_900_000_000
const BODY = '{"answer":42}'

function signedHeaders(body: string | Uint8Array = BODY, secrets = [SECRET]): Record<string, string> {
  const signed = { id: ID, timestamp: NOW, body: Buffer.from(body) }
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(NOW),
    'webhook-attempt': '3',
    'webhook-signature': signatureOf(secrets.map(readSigningSecret), signed),
  }
}

function problemOf(given: Partial<CallbackToVerify>): VerificationProblem | undefined {
  try {
    verifyCallback({ headers: signedHeaders(), body: BODY, secrets: SECRET, now: NOW, ...given })
    return undefined
  } catch (error) {
    assert.ok(error instanceof CallbackNotVerified)
    assert.notEqual(error.message, '')
    return error.problem
  }
}

test('what the courier sends is accepted by our helper and by the library of the standard', async (t) => {
  await using receiver = await startReceiver()
  const clock = new SystemClock()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const body = Buffer.from('{"text":"grüße"}')
  const headers = requestHeaders({
    runId: ID,
    attempt: 2,
    createdAt: clock.now(),
    attemptedAt: clock.now(),
    callback: { header: {}, token: '' },
    completion: { state: 'succeeded', headers: new Map([['content-type', 'application/json']]), body },
    secrets: [readSigningSecret(OTHER), readSigningSecret(SECRET)],
  })
  await courier.deliver({ ...deliveryTo(receiver.url, { body }), headers })
  const request = await receiver.requests.next()
  const verified = verifyCallback({ headers: request.headers, body: request.body, secrets: SECRET })
  assert.equal(verified.id, ID)
  assert.equal(verified.attempt, 2)
  for (const secret of [SECRET, OTHER]) {
    const parsed = new Webhook(secret).verify(request.body.toString(), request.headers as Record<string, string>)
    assert.deepEqual(parsed, { text: 'grüße' })
  }
})

test('what the library of the standard signs is accepted, whatever the body', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      (body, bytes) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        const signature = new Webhook(secret).sign(ID, new Date(NOW * 1000), body)
        const headers = { 'webhook-id': ID, 'webhook-timestamp': String(NOW), 'webhook-signature': signature }
        assert.equal(verifyCallback({ headers, body, secrets: secret, now: NOW }).id, ID)
      },
    ),
  )
})

test('headers are taken in any case and from a Headers object, the body as text or bytes', () => {
  const headers = signedHeaders()
  const loud = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  for (const given of [headers, loud, new Headers(headers)]) {
    for (const body of [BODY, Buffer.from(BODY)]) {
      assert.deepEqual(verifyCallback({ headers: given, body, secrets: SECRET, now: NOW }), {
        id: ID,
        timestamp: NOW,
        attempt: 3,
      })
    }
  }
})

test('any of several secrets will do on either side', () => {
  assert.equal(problemOf({ secrets: [OTHER, SECRET] }), undefined)
  assert.equal(problemOf({ headers: signedHeaders(BODY, [OTHER, SECRET]) }), undefined)
  assert.equal(problemOf({ secrets: [OTHER] }), 'invalid_signature')
})

test('a request that was changed is not accepted', () => {
  const headers = signedHeaders()
  const signature = headers['webhook-signature'] as string
  assert.equal(problemOf({ body: `${BODY} ` }), 'invalid_signature')
  assert.equal(problemOf({ headers: { ...headers, 'webhook-id': 'another' } }), 'invalid_signature')
  assert.equal(problemOf({ headers: { ...headers, 'webhook-timestamp': String(NOW + 1) } }), 'invalid_signature')
  for (const forged of [
    'v1,',
    'v1a,AAAA',
    signature.slice(3),
    `v2,${signature.slice(3)}`,
    'v1,%%%',
    'v1',
    `v1,${'A'.repeat(43)}=`,
  ]) {
    assert.equal(problemOf({ headers: { ...headers, 'webhook-signature': forged } }), 'invalid_signature', forged)
  }
})

test('no flipped bit of the body or the signature passes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.nat(7), (body, position, bit) => {
      const changed = Uint8Array.from(body)
      const at = position % body.length
      changed[at] = (changed[at] as number) ^ (1 << bit)
      assert.equal(problemOf({ headers: signedHeaders(body), body: changed }), 'invalid_signature')
    }),
  )
})

test('a request is accepted within the tolerance and not beyond it', () => {
  assert.equal(problemOf({ now: NOW + 300 }), undefined)
  assert.equal(problemOf({ now: NOW + 301 }), 'too_old')
  assert.equal(problemOf({ now: NOW - 300 }), undefined)
  assert.equal(problemOf({ now: NOW - 301 }), 'too_new')
  assert.equal(problemOf({ now: NOW + 11, tolerance: 10 }), 'too_old')
})

test('what is missing or unreadable is named', () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    assert.equal(problemOf({ headers: { ...signedHeaders(), [name]: undefined } }), 'missing_header')
    assert.equal(problemOf({ headers: { ...signedHeaders(), [name]: '' } }), 'missing_header')
    assert.equal(problemOf({ headers: { ...signedHeaders(), [name]: ['a', 'b'] } }), 'missing_header')
  }
  for (const timestamp of ['soon', '-1', '1e9', '1900000000.5', '9'.repeat(40)]) {
    assert.equal(problemOf({ headers: { ...signedHeaders(), 'webhook-timestamp': timestamp } }), 'invalid_timestamp')
  }
  for (const secrets of [[], '', 'whsec_', 'whsec_%%%', [SECRET, 'not base64!']]) {
    assert.equal(problemOf({ secrets }), 'invalid_secret')
  }
})

test('a body that was parsed is refused with a hint', () => {
  const body = JSON.parse(BODY)
  assert.throws(() => verifyCallback({ headers: signedHeaders(), body, secrets: SECRET, now: NOW }), /as they arrived/)
})
