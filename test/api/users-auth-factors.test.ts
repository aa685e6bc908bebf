import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import { stepAt, totpCode } from '../../src/users/sign-in/totp.ts'
import { runCommand } from '../cli/run-command.ts'
import { fromBase32 } from '../support/accounts.ts'
import { addPerson } from '../support/add-person.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PASSWORD = 'a password for tests'
const NEW_PASSWORD = 'quite another password'
const TOTP = '/api/v2/current_user/totp'

let server: TestServer
let anonymous: TestClient

before(async () => {
  const env = { COMMONPLACE_USERS__RATE_LIMITS: '{}', COMMONPLACE_USERS__REQUIRE_MFA: 'admins' }
  server = await startServer({ mode: 'serve', env })
  anonymous = client(server, 'none')
})
after(() => server.stop())

function signIn(
  email: string,
  status: number,
  { password = PASSWORD, totp }: { password?: string; totp?: string } = {},
) {
  const body = { data: { type: 'sign_ins', attributes: { email, password, totp } } }
  return anonymous.post('/api/v2/auth/sign_in', status, { body })
}

async function callerFor(email: string): Promise<TestClient> {
  return anonymous.as({ token: (await signIn(email, 200)).body.meta.session.token })
}

/** A code of a step that was not used yet, without waiting for the next one. */
function codeOf(secret: string, stepsAhead = 0): string {
  return totpCode(fromBase32(secret), stepAt(Date.now() * MICROS_PER_MS) + stepsAhead)
}

function confirmBody(code: unknown) {
  return { body: { data: { type: 'totp_enrollments', attributes: { code } } } }
}

describe('a second factor', () => {
  test('is enrolled, confirmed, asked for, and reset by an administrator', async () => {
    const email = 'ada@example.org'
    const id = await addPerson(server, { email, password: PASSWORD, role: 'standard' })
    const ada = await callerFor(email)
    const { body: enrolment, headers } = await ada.post(TOTP, 201)
    assert.match(headers.get('cache-control') as string, /no-store/)
    assert.equal(enrolment.data.type, 'totp_enrollments')
    const { secret, otpauth_uri: uri } = enrolment.data.attributes
    assert.ok(uri.includes(`secret=${secret}`))
    await ada.post(`${TOTP}/confirm`, 400, confirmBody('abcdef'))
    await ada.post(`${TOTP}/confirm`, 400, confirmBody(123456))
    const { body: confirmed } = await ada.post(`${TOTP}/confirm`, 200, confirmBody(codeOf(secret)))
    const codes = confirmed.data.attributes.recovery_codes
    assert.equal(codes.length, 10)
    const { body: session } = await ada.get('/api/v2/auth/session', 200)
    assert.equal(session.data.attributes.mfa_enabled, true)
    await ada.post(TOTP, 409)

    assert.deepEqual((await signIn(email, 401)).body, { errors: ['TOTP code required'] })
    assert.deepEqual((await signIn(email, 401, { totp: '000 000 0' })).body, { errors: ['Sign-in failed'] })
    assert.deepEqual((await signIn(email, 401, { password: 'wrong password', totp: codes[0] })).body, {
      errors: ['Sign-in failed'],
    })
    const next = codeOf(secret, 1)
    await signIn(email, 200, { totp: next })
    await signIn(email, 401, { totp: next })
    await signIn(email, 200, { totp: codes[0] })
    await signIn(email, 401, { totp: codes[0] })

    await ada.delete(`/api/v2/users/${id}/totp`, 403)
    await client(server).delete(`/api/v2/users/${id}/totp`, 204)
    await client(server).delete(`/api/v2/users/${id}/totp`, 404)
    await client(server).delete('/api/v2/users/nonsense/totp', 404)
    await anonymous.delete(`/api/v2/users/${id}/totp`, 401)
    const { body } = await signIn(email, 200)
    assert.equal(body.data.attributes.mfa_enabled, false)
  })

  test('can be removed by its user', async () => {
    const email = 'bob@example.org'
    await addPerson(server, { email, password: PASSWORD })
    const bob = await callerFor(email)
    await bob.delete(TOTP, 404)
    const { body } = await bob.post(TOTP, 201)
    await bob.post(`${TOTP}/confirm`, 200, confirmBody(codeOf(body.data.attributes.secret)))
    await bob.delete(TOTP, 204)
    await signIn(email, 200)
  })

  test('can be removed by the operator of the machine, for somebody who lost everything', async () => {
    const email = 'dora@example.org'
    await addPerson(server, { email, password: PASSWORD })
    const dora = await callerFor(email)
    const { body } = await dora.post(TOTP, 201)
    await dora.post(`${TOTP}/confirm`, 200, confirmBody(codeOf(body.data.attributes.secret)))
    const args = ['user', 'remove-totp', email, '--json']
    const env = { COMMONPLACE_DATA_DIR: server.dataDir }
    assert.equal(JSON.parse((await runCommand(args, env)).stdout).changed, true)
    await signIn(email, 200)
    const again = await runCommand(args, env)
    assert.deepEqual([again.status, /has no second factor/.test(again.stderr)], [1, true])
  })

  test('is nobody else’s business: no credentials are 401', async () => {
    await anonymous.post(TOTP, 401)
    await anonymous.post(`${TOTP}/confirm`, 401, confirmBody('123456'))
    await anonymous.delete(TOTP, 401)
  })

  test('that the policy asks for is all that a session without it can see to', async () => {
    const email = 'root@example.org'
    const id = await addPerson(server, { email, password: PASSWORD, role: 'admin' })
    const { body } = await signIn(email, 200)
    assert.equal(body.meta.session.totp_enrollment_required, true)
    const root = anonymous.as({ token: body.meta.session.token })
    const { body: refusal } = await root.get('/metrics', 403)
    assert.match(refusal.error, /^A second factor is required/)
    const { body: refused } = await root.delete(`/api/v2/users/${id}/totp`, 403)
    assert.match(refused.errors[0], /^A second factor is required/)
    await root.get(`/api/v2/users/${id}/sessions`, 200)
    const { body: enrolment } = await root.post(TOTP, 201)
    await root.post(`${TOTP}/confirm`, 200, confirmBody(codeOf(enrolment.data.attributes.secret)))
    await root.get('/metrics', 200)
    const { body: session } = await root.get('/api/v2/auth/session', 200)
    assert.equal(session.meta.session.totp_enrollment_required, false)
  })
})

describe('a password', () => {
  const change = (current: unknown, next: unknown) => ({
    body: { data: { type: 'passwords', attributes: { current, new: next } } },
  })
  const PATH = '/api/v2/current_user/password'

  test('is changed by whoever knows the current one', async () => {
    const email = 'carol@example.org'
    await addPerson(server, { email, password: PASSWORD })
    const [carol, elsewhere] = [await callerFor(email), await callerFor(email)]
    await carol.patch(PATH, 403, change('not the password', NEW_PASSWORD))
    const { body } = await carol.patch(PATH, 400, change(PASSWORD, 'short'))
    assert.deepEqual(body, { errors: ['data.attributes.new must have at least 12 characters'] })
    const { body: both } = await carol.patch(PATH, 400, change(1, null))
    assert.equal(both.errors.length, 2)
    await anonymous.patch(PATH, 401, change(PASSWORD, NEW_PASSWORD))
    await carol.patch(PATH, 204, change(PASSWORD, NEW_PASSWORD))
    await elsewhere.get('/api/v2/auth/session', 401)
    await carol.get('/api/v2/auth/session', 200)
    await signIn(email, 401)
    await signIn(email, 200, { password: NEW_PASSWORD })
  })

  test('that somebody guesses in a session left open is in the audit log', async () => {
    const email = 'erin@example.org'
    const id = await addPerson(server, { email, password: PASSWORD })
    const erin = await callerFor(email)
    await erin.patch(PATH, 403, change('not the password', NEW_PASSWORD))
    const { body, text } = await client(server).get(
      `/api/v2/audit/events?filter[target]=${id}&filter[action]=access.denied`,
      200,
    )
    assert.deepEqual(
      body.data.map(({ attributes }: { attributes: Record<string, unknown> }) => [
        attributes.outcome,
        (attributes.actor as { user_id: string }).user_id,
        attributes.changes,
      ]),
      [['failure', id, { reason: { new: 'wrong_password' } }]],
    )
    assert.ok(!text.includes('not the password'))
  })

  test('can be asked for anew by anybody, and the answer says nothing', async () => {
    const reset = (email: unknown) => ({ body: { data: { type: 'password_resets', attributes: { email } } } })
    const answers = []
    for (const email of ['admin@localhost.localdomain', 'nobody@example.org', 'nonsense', '']) {
      answers.push((await anonymous.post('/api/v2/auth/password_resets', 202, reset(email))).text)
    }
    assert.deepEqual([...new Set(answers)], [''])
    await anonymous.post('/api/v2/auth/password_resets', 400, reset(null))
    await anonymous.post('/api/v2/auth/password_resets', 400, { body: { data: { type: 'passwords', attributes: {} } } })
  })

  test('is not reset by a token that nobody was given', async () => {
    for (const token of ['', 'nonsense', 'a'.repeat(43)]) {
      const attributes = { token, password: NEW_PASSWORD }
      const { body } = await anonymous.post('/api/v2/auth/password_resets/confirm', 404, {
        body: { data: { type: 'password_resets', attributes } },
      })
      assert.deepEqual(body, { errors: ['Password reset is not valid'] })
    }
  })
})
