import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '../../platform/ids/uuid.ts'
import { Cipher } from '../../platform/secrets/cipher.ts'
import { isSigningSecret } from '../settings.ts'
import { changeSecrets, isSigningChange, openSecrets, sealSecrets } from './signing-secrets.ts'

function secret(n: number): string {
  return `whsec_${Buffer.alloc(24, n).toString('base64')}`
}

const [one, two, three] = [secret(1), secret(2), secret(3)] as [string, string, string]

test('an added secret comes first and the others go on signing', () => {
  assert.deepEqual(changeSecrets([one], { add: two }), { secrets: [two, one], generated: null })
  assert.deepEqual(changeSecrets([two, one], { add: one }).secrets, [one, two])
})

test('a generated secret is new each time, of good form and comes first', () => {
  const made = changeSecrets([one], { generate: true })
  const again = changeSecrets([one], { generate: true })
  assert.deepEqual(made.secrets, [made.generated, one])
  assert.ok(isSigningSecret(made.generated as string))
  assert.notEqual(made.generated, again.generated)
})

test('the oldest is dropped, or the one that is named', () => {
  assert.deepEqual(changeSecrets([three, two, one], { drop: 'oldest' }).secrets, [three, two])
  assert.deepEqual(changeSecrets([three, two, one], { drop: three }).secrets, [two, one])
  assert.deepEqual(changeSecrets([one], { add: two, drop: 'oldest' }).secrets, [two])
})

test('the only secret is dropped by name only, so that a repeated request does not end all signatures', () => {
  assert.throws(() => changeSecrets([one], { drop: 'oldest' }), { code: 'failed_precondition', message: /^Only one/ })
  assert.throws(() => changeSecrets([], { drop: 'oldest' }), { code: 'failed_precondition', message: /^No secret/ })
  assert.deepEqual(changeSecrets([one], { drop: one }).secrets, [])
})

test('a secret that does not sign cannot be dropped, and the message does not repeat it', () => {
  assert.throws(
    () => changeSecrets([one], { drop: two }),
    (error: Error) => !error.message.includes(two) && /does not sign/.test(error.message),
  )
})

test('a list replaces all, an empty one signs nothing, null inherits', () => {
  assert.deepEqual(changeSecrets([one], { secrets: [three, two, three] }).secrets, [three, two])
  assert.deepEqual(changeSecrets([one], { secrets: [] }).secrets, [])
  assert.equal(changeSecrets([one], { secrets: null }).secrets, null)
})

test('a request that names no secret changes none', () => {
  for (const change of [{}, { generate: false }]) assert.equal(isSigningChange(change), false)
  for (const change of [{ secrets: null }, { secrets: [] }, { add: one }, { generate: true }, { drop: one }]) {
    assert.equal(isSigningChange(change), true, JSON.stringify(change))
  }
})

test('no more than ten sign', () => {
  const ten = Array.from({ length: 10 }, (_, n) => secret(n))
  assert.throws(() => changeSecrets(ten, { generate: true }), { code: 'failed_precondition' })
  assert.equal(changeSecrets(ten, { generate: true, drop: 'oldest' }).secrets?.length, 10)
})

test('a sealed secret opens for its own namespace and key only', () => {
  const cipher = new Cipher(randomBytes(32))
  const id = newId<'Namespace'>()
  const sealedSecrets = sealSecrets(cipher, id, [two, one])
  assert.ok(sealedSecrets.every((sealed) => !sealed.includes(one.slice(6))))
  assert.deepEqual(openSecrets(cipher, { id, name: 'orders', sealedSecrets }), [two, one])
  assert.equal(openSecrets(cipher, { id, name: 'orders', sealedSecrets: null }), null)
  assert.throws(() => openSecrets(cipher, { id: newId(), name: 'orders', sealedSecrets }), { code: 'internal' })
  const other = new Cipher(randomBytes(32))
  assert.throws(() => openSecrets(other, { id, name: 'orders', sealedSecrets }), { code: 'internal' })
})
