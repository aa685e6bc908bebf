import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  API_KEY,
  APPLICATION_KEY,
  BEARER_TOKEN,
  hashSecret,
  keepAccessToken,
  mintAccessToken,
  mintApiKey,
  mintApplicationKey,
  mintPublicId,
  mintSessionToken,
  SESSION_TOKEN,
} from './secrets.ts'

test('minted secrets have the promised forms', () => {
  for (let round = 0; round < 200; round++) {
    const token = mintAccessToken()
    assert.match(token.plain, /^pat_[A-Za-z0-9]{22}_[A-Za-z0-9_-]{43}$/)
    assert.equal(token.plain.slice(4, 26), token.publicPortion)
    assert.match(token.plain, BEARER_TOKEN)
    assert.doesNotMatch(token.plain, SESSION_TOKEN)
    assert.match(mintApiKey().plain, /^[0-9a-f]{32}$/)
    assert.match(mintApplicationKey().plain, /^[0-9a-f]{40}$/)
    assert.match(mintSessionToken().plain, SESSION_TOKEN)
    assert.match(mintPublicId(), /^[a-z0-9]{10}$/)
  }
})

test('only a hash and the last four characters are kept', () => {
  const { plain, hash, last4 } = mintApiKey()
  assert.match(hash, /^[0-9a-f]{64}$/)
  assert.equal(hash, hashSecret(plain))
  assert.equal(last4, plain.slice(28))
})

test('nothing of a token that the operator chose becomes public', () => {
  const plain = 'the-operator-chose-this-one-0123456789'
  const { publicPortion } = keepAccessToken(plain)
  assert.equal(publicPortion.length, 22)
  assert.equal(plain.includes(publicPortion), false)
})

test('key patterns do not overlook a line end', () => {
  assert.equal(API_KEY.test(`${'a'.repeat(32)}\n`), false)
  assert.equal(APPLICATION_KEY.test(`${'a'.repeat(40)}\n`), false)
})
