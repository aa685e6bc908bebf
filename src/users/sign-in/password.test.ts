import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, verifyPassword } from './password.ts'
import { passwordProblem } from './password-rules.ts'

const RULES = { minLength: 12, email: 'ada@example.org' }

test('a password is kept as Argon2id with 19 MiB, two passes and one lane, each time with another salt', async () => {
  const [one, two] = await Promise.all([hashPassword('a long sentence'), hashPassword('a long sentence')])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(one, two)
  assert.equal(await verifyPassword(one, 'a long sentence'), true)
  assert.equal(await verifyPassword(one, 'a long sentencE'), false)
})

test('nobody gets in without a stored password', async () => {
  assert.equal(await verifyPassword(null, ''), false)
  assert.equal(await verifyPassword(null, '\ufffd\ufffd'), false)
})

test('the same characters match however they are composed', async () => {
  const hash = await hashPassword('caf\u00e9 caf\u00e9 caf\u00e9')
  assert.equal(await verifyPassword(hash, 'cafe\u0301 cafe\u0301 cafe\u0301'), true)
})

test('weak passwords are refused with a reason', () => {
  assert.match(passwordProblem('short', RULES) ?? '', /at least 12/)
  assert.match(passwordProblem('Ada@Example.org', RULES) ?? '', /email/)
  assert.match(passwordProblem('PasswordPassword', RULES) ?? '', /anybody would try/)
  assert.match(passwordProblem(' '.repeat(12), RULES) ?? '', /anybody would try/)
  assert.match(passwordProblem(' '.repeat(12), { ...RULES, email: '' }) ?? '', /anybody would try/)
  assert.match(passwordProblem('x'.repeat(1_025), RULES) ?? '', /at most/)
  assert.match(passwordProblem('🦊'.repeat(11), RULES) ?? '', /at least 12/)
  assert.equal(passwordProblem('four words make it', RULES), undefined)
})
