import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSecretName } from './record.ts'

test('knows names of secrets in every spelling', () => {
  for (const name of [
    'password',
    'Passwords',
    'new_password',
    'clientSecret',
    'api_key',
    'application-keys',
    'token',
    'tokenHash',
    'hashes',
    'totp.secret',
    'Cookie',
    'passphrase',
    'credentials',
  ]) {
    assert.ok(isSecretName(name), name)
  }
})

test('lets ordinary attributes pass', () => {
  for (const name of ['name', 'email', 'monkey', 'keyboard', 'status', 'roles', 'last4', 'scopes', 'tokenizer', '0']) {
    assert.ok(!isSecretName(name), name)
  }
})
