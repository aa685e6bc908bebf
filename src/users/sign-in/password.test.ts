import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
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

test('passwords wait in line for their hash, and beyond a long line nobody is taken on', async () => {
  const stored = await hashPassword('a long sentence')
  const checks = await Promise.allSettled(Array.from({ length: 110 }, () => verifyPassword(stored, 'another')))
  const refused = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []))
  assert.equal(refused.length, 8)
  for (const reason of refused) assert.ok(isAppError(reason, 'unavailable'))
  assert.equal(await verifyPassword(stored, 'a long sentence'), true)
})

test('a password is judged as it is hashed, in however wide or composed signs it was typed', () => {
  assert.match(passwordProblem('ｐａｓｓｗｏｒｄ１２３４', RULES) ?? '', /anybody would try/)
  assert.match(passwordProblem('ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ', RULES) ?? '', /email/)
  assert.match(passwordProblem('e\u0301'.repeat(6), RULES) ?? '', /at least 12/)
  // One sign that becomes a sentence is still one.
  assert.match(passwordProblem('\ufdfa', RULES) ?? '', /at least 12/)
  assert.equal(passwordProblem('e\u0301'.repeat(12), RULES), undefined)
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
  for (const password of ['password', '12345678', 'Qwertyuiop', 'P@ssw0rd', 'commonplace'])
    assert.match(passwordProblem(password, { ...RULES, minLength: 8 }) ?? '', /anybody would try/)
})
