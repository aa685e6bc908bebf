import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { addPerson } from '../support/add-person.ts'
import { startMailServer } from '../support/mail-server.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { startServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client } from '../support/test-client.ts'

const PASSWORD = 'a password for tests'
const SIGN_IN = '/api/v2/auth/sign_in'
const CONFIRM = '/api/v2/auth/password_resets/confirm'
const LINK = /^choose a password [^\n]*: (http\S+)\/setup#token=([\w-]{43})$/m

function signInBody(email: string, password = PASSWORD) {
  return { body: { data: { type: 'sign_ins', attributes: { email, password } } } }
}

describe('the set-up link', () => {
  test('is printed by the first start of serve, and lets the administrator choose a password once', async () => {
    const first = await startServer({ mode: 'serve' })
    const [, base, token] = LINK.exec(first.output()) ?? []
    assert.equal(base, first.url.replace('127.0.0.1', 'localhost'))
    // It stands on that line and in no line of the log.
    assert.equal(first.output().split(token as string).length, 2)
    const anonymous = client(first, 'none')
    const body = { data: { type: 'password_resets', attributes: { token, password: PASSWORD } } }
    const { body: answer } = await anonymous.post(CONFIRM, 200, { body })
    assert.deepEqual(answer.data.attributes, { email: 'admin@localhost.localdomain' })
    await anonymous.post(CONFIRM, 404, { body })
    const { body: document } = await anonymous.post(SIGN_IN, 200, signInBody('admin@localhost.localdomain'))
    await first.stop()

    // A session outlives a restart; the link does not come again.
    await using second = await startServer({ mode: 'serve', dataDir: first.dataDir })
    assert.equal(LINK.test(second.output()), false)
    await client(second, { token: document.meta.session.token }).get('/api/v2/auth/session', 200)
  })

  test('comes again until it was used, also when the first start failed before it could print it', async () => {
    const dataDir = tempDir()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const taken = { COMMONPLACE_PORT: String(port) }
    await assert.rejects(startServer({ mode: 'serve', dataDir, env: taken }))
    other.close()

    const second = await startServer({ mode: 'serve', dataDir })
    const earlier = LINK.exec(second.output())?.[2]
    await second.stop()
    await using third = await startServer({ mode: 'serve', dataDir })
    const later = LINK.exec(third.output())?.[2]
    const wish = (token?: string) => ({
      body: { data: { type: 'password_resets', attributes: { token, password: PASSWORD } } },
    })
    assert.notEqual(earlier, undefined)
    await client(third, 'none').post(CONFIRM, 404, wish(earlier))
    await client(third, 'none').post(CONFIRM, 200, wish(later))
  })
})

describe('a server in dev', () => {
  test('shows who the local caller is without a session, and prints no link', async () => {
    await using server = await startServer({ mode: 'dev' })
    assert.equal(LINK.test(server.output()), false)
    const local = client(server, 'none')
    const { body } = await local.get('/api/v2/auth/session', 200)
    assert.equal(body.data.attributes.email, 'admin@localhost.localdomain')
    assert.deepEqual(body.meta, { session: null })
    await local.post('/api/v2/auth/sign_out', 204)
  })
})

describe('a forgotten password', () => {
  test('is replaced through a link by mail, and only for those who have an account', async () => {
    await using mailServer = await startMailServer()
    const env = { COMMONPLACE_USERS__SMTP_URL: mailServer.url, COMMONPLACE_USERS__RATE_LIMITS: '{}' }
    await using server = await startServer({ mode: 'serve', env })
    await addPerson(server, { email: 'ada@example.org', password: PASSWORD })
    const anonymous = client(server, 'none')
    for (const email of ['nobody@example.org', 'ada@example.org']) {
      const body = { data: { type: 'password_resets', attributes: { email } } }
      await anonymous.post('/api/v2/auth/password_resets', 202, { body })
    }
    const mail = await mailServer.next()
    assert.deepEqual(mail.to, ['ada@example.org'])
    const token = /#token=([\w-]{43})/.exec(mail.text)?.[1]
    const { body: session } = await anonymous.post(SIGN_IN, 200, signInBody('ada@example.org'))
    const attributes = { token, password: 'quite another password' }
    await anonymous.post(CONFIRM, 200, { body: { data: { type: 'password_resets', attributes } } })
    await anonymous.as({ token: session.meta.session.token }).get('/api/v2/auth/session', 401)
    await anonymous.post(SIGN_IN, 401, signInBody('ada@example.org'))
    await anonymous.post(SIGN_IN, 200, signInBody('ada@example.org', 'quite another password'))
    assert.equal(mailServer.mails.length, 1)
    assert.equal(server.output().includes(token as string), false)
  })
})

describe('limits on signing in', () => {
  test('stop guessing at one account from the sixth try on, and at many from the eleventh', async () => {
    // Windows of a day, so that none ends during the test.
    const limits = { public_auth: { limit: 10, period: '1d' }, public_auth_account: { limit: 5, period: '1d' } }
    await using server = await startServer({
      mode: 'serve',
      env: { COMMONPLACE_USERS__RATE_LIMITS: JSON.stringify(limits), COMMONPLACE_BASE_URL: 'https://example.org' },
    })
    await addPerson(server, { email: 'ada@example.org', password: PASSWORD })
    const anonymous = client(server, 'none')
    const { headers } = await anonymous.post(SIGN_IN, 200, signInBody('ada@example.org'))
    assert.match(headers.get('set-cookie') as string, /; Secure;/)
    for (let tries = 0; tries < 4; tries++) await anonymous.post(SIGN_IN, 401, signInBody('ADA@example.org', 'wrong'))
    const { headers: limited, body } = await anonymous.post(SIGN_IN, 429, signInBody('ada@example.org'))
    assert.equal(limited.get('x-ratelimit-name'), 'public_auth_account')
    assert.equal(limited.get('retry-after'), limited.get('x-ratelimit-reset'))
    assert.match(body.errors[0], /^Rate limit exceeded/)
    for (let tries = 0; tries < 4; tries++) {
      await anonymous.post(SIGN_IN, 401, signInBody(`user${tries}@example.org`))
    }
    const { headers: all } = await anonymous.post(SIGN_IN, 429, signInBody('somebody@example.org'))
    assert.equal(all.get('x-ratelimit-name'), 'public_auth')
    await anonymous.post('/api/v2/auth/password_resets', 429, { body: {} })
  })
})

describe('the key for stored secrets', () => {
  test('is asked for at the start once it was set, and another one is refused', async () => {
    const key = randomBytes(32).toString('base64')
    const first = await startServer({ mode: 'serve', env: { COMMONPLACE_AUTH__ENCRYPTION_KEY: key } })
    await first.stop()
    const { dataDir } = first
    const other = { COMMONPLACE_AUTH__ENCRYPTION_KEY: randomBytes(32).toString('hex') }
    await assert.rejects(startServer({ mode: 'serve', dataDir, env: other }), /auth\.encryption_key is not the key/)
    await assert.rejects(startServer({ mode: 'serve', dataDir }), /set auth\.encryption_key to it/)
    assert.equal(first.output().includes(key), false)
  })
})

describe('several servers on one PostgreSQL', { skip: postgresUnavailable() ?? false }, () => {
  test('share sessions and second factors, and a revoked session ends on all of them within a second', async () => {
    const env = { COMMONPLACE_USERS__RATE_LIMITS: '{}' }
    await using one = await startServer({ mode: 'serve', engine: 'postgres', env })
    await using two = await startServer({ mode: 'serve', databaseUrl: one.databaseUrl as string, env })
    const id = await addPerson(one, { email: 'ada@example.org', password: PASSWORD })
    const { body } = await client(one, 'none').post(SIGN_IN, 200, signInBody('ada@example.org'))
    const { token } = body.meta.session
    const [here, there] = [client(one, { token }), client(two, { token })]
    await there.post('/api/v2/current_user/totp', 201)
    await here.post('/api/v2/current_user/totp/confirm', 400, {
      body: { data: { type: 'totp_enrollments', attributes: { code: 'abcdef' } } },
    })
    await there.get('/api/v2/auth/session', 200)
    await client(one).delete(`/api/v2/users/${id}/sessions`, 204)
    const revokedAt = performance.now()
    await here.get('/api/v2/auth/session', 401)
    for (let status = 200; status !== 401; ) {
      const askedAt = performance.now()
      status = (await fetch(`${two.url}/api/v2/auth/session`, { headers: { authorization: `Bearer ${token}` } })).status
      // However late its answer may come: who asks after a second is refused.
      if (askedAt - revokedAt > 1_000) assert.equal(status, 401, `${askedAt - revokedAt} ms`)
    }
  })
})
