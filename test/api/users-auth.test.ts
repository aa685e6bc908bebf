import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addPerson } from '../support/add-person.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PASSWORD = 'a password for tests'
const ADA = 'ada@example.org'
const SIGN_IN = '/api/v2/auth/sign_in'
const SIGN_OUT = '/api/v2/auth/sign_out'
const SESSION = '/api/v2/auth/session'

let server: TestServer
let anonymous: TestClient
let adaId: string

before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  anonymous = client(server, 'none')
  adaId = await addPerson(server, { email: ADA, password: PASSWORD, role: 'standard' })
})
after(() => server.stop())

function signInBody(attributes: Record<string, unknown>) {
  return { body: { data: { type: 'sign_ins', attributes } } }
}

async function signIn(email = ADA, password = PASSWORD) {
  const answer = await anonymous.post(SIGN_IN, 200, signInBody({ email, password }))
  const { token, csrf_token: csrfToken } = answer.body.meta.session
  return { ...answer, token, csrfToken, cookie: `commonplace_session=${token}` }
}

describe('signing in', () => {
  test('answers the user with a session, and sets a cookie that scripts and other sites cannot use', async () => {
    const { body, headers, token } = await signIn()
    assert.equal(body.data.type, 'users')
    assert.equal(body.data.id, adaId)
    assert.ok(Date.parse(body.data.attributes.last_login_time) > Date.now() - 60_000)
    assert.equal(body.included[0].type, 'orgs')
    assert.deepEqual(Object.keys(body.meta.session).sort(), [
      'csrf_token',
      'expires_at',
      'token',
      'totp_enrollment_required',
    ])
    assert.equal(headers.get('cache-control'), 'private, no-store')
    const cookie = headers.get('set-cookie') as string
    assert.equal(cookie.split(';')[0], `commonplace_session=${token}`)
    assert.match(cookie, /^[^;]+; Path=\/; Max-Age=8(6399|6400); HttpOnly; SameSite=Lax$/)
  })

  test('refuses every wrong combination alike', async () => {
    for (const attributes of [
      { email: ADA, password: 'wrong password' },
      { email: 'nobody@example.org', password: PASSWORD },
      { email: 'nonsense', password: PASSWORD, totp: '123456' },
      { email: ADA, password: '', totp: null },
    ]) {
      const { body, headers } = await anonymous.post(SIGN_IN, 401, signInBody(attributes))
      assert.deepEqual(body, { errors: ['Sign-in failed'] })
      assert.equal(headers.get('set-cookie'), null)
    }
  })

  test('lists every problem of a body', async () => {
    const { body } = await anonymous.post(SIGN_IN, 400, {
      body: { data: { type: 'users', attributes: { email: 1, totp: 5 } } },
    })
    assert.deepEqual(body.errors.length, 4)
    assert.ok(body.errors.includes('data.type must be "sign_ins"'))
    assert.ok(body.errors.includes('data.attributes.password is required'))
    await anonymous.post(SIGN_IN, 400, signInBody({ email: ADA, password: 'x'.repeat(5_000) }))
    await anonymous.post(SIGN_IN, 415, { body: 'email=ada', headers: { 'content-type': 'text/plain' } })
    await anonymous.post(SIGN_IN, 400)
  })

  test('is not hindered by credentials that do not work', async () => {
    const bad = anonymous.as({ headers: { cookie: `commonplace_session=ses_${'a'.repeat(43)}` } })
    await bad.post(SIGN_IN, 200, signInBody({ email: ADA, password: PASSWORD }))
  })
})

describe('a session', () => {
  test('is shown to its user, by cookie and by token, without the token', async () => {
    const { token, csrfToken, cookie } = await signIn()
    for (const credentials of [{ headers: { cookie } }, { token }]) {
      const { body, headers } = await anonymous.as(credentials).get(SESSION, 200)
      assert.equal(body.data.id, adaId)
      assert.equal(body.meta.session.csrf_token, csrfToken)
      assert.equal(body.meta.session.token, null)
      assert.match(headers.get('cache-control') as string, /no-store/)
    }
  })

  test('is 401 for everybody who has none', async () => {
    await anonymous.get(SESSION, 401)
    await anonymous.as('administrator').get(SESSION, 401)
    await anonymous.as({ token: 'a'.repeat(40) }).get(SESSION, 401)
    await anonymous.as({ headers: { cookie: `commonplace_session=ses_${'a'.repeat(43)}` } }).get(SESSION, 401)
  })

  test('changes something by cookie only with its own X-CSRF-Token', async () => {
    const [mine, other] = [await signIn(), await signIn()]
    const { cookie, csrfToken, token } = mine
    const refused: Record<string, string>[] = [
      { cookie },
      { cookie, 'x-csrf-token': '' },
      { cookie, 'x-csrf-token': other.csrfToken },
      { cookie, 'x-csrf-token': `${csrfToken}x` },
    ]
    for (const headers of refused) {
      const caller = anonymous.as({ headers })
      const { body } = await caller.post(SIGN_OUT, 403)
      assert.deepEqual(body, { errors: ['The X-CSRF-Token header is missing or wrong'] })
      await caller.delete(`/api/v2/users/${adaId}/sessions`, 403)
      await caller.patch('/api/v2/current_user/password', 403, { body: {} })
      await caller.post('/api/v2/current_user/totp', 403)
      await caller.get(SESSION, 200)
    }
    // Nothing changed: both sessions are there, and the password is the same.
    for (const each of [token, other.token]) await anonymous.as({ token: each }).get(SESSION, 200)
    await signIn()
    await anonymous.as({ token: other.token }).post(SIGN_OUT, 204)
    await anonymous.as({ headers: { cookie, 'x-csrf-token': csrfToken } }).post(SIGN_OUT, 204)
  })

  test('ends with the sign-out, at once and for good', async () => {
    const { cookie, csrfToken, token } = await signIn()
    const caller = anonymous.as({ headers: { cookie, 'x-csrf-token': csrfToken } })
    const { headers } = await caller.post(SIGN_OUT, 204)
    assert.match(headers.get('set-cookie') as string, /^commonplace_session=; Path=\/; Max-Age=0; HttpOnly/)
    await caller.get(SESSION, 401)
    await caller.post(SIGN_OUT, 403)
    await anonymous.as({ token }).get(`/api/v2/users/${adaId}/sessions`, 403)
  })

  test('is what a sign-out needs: a token or key is refused, nothing at all is 401', async () => {
    await anonymous.post(SIGN_OUT, 401)
    await anonymous.as('administrator').post(SIGN_OUT, 400)
  })
})

describe('the sessions of a user', () => {
  const path = (userId: string, sessionId?: string) =>
    `/api/v2/users/${userId}/sessions${sessionId === undefined ? '' : `/${sessionId}`}`

  test('are listed with the current one marked, and end one by one or together', async () => {
    const bob = await addPerson(server, { email: 'bob@example.org', password: PASSWORD })
    const [mine, other, third] = [
      await signIn('bob@example.org'),
      await signIn('bob@example.org'),
      await signIn('bob@example.org'),
    ]
    const caller = anonymous.as({ token: mine.token })
    const { body } = await caller.get(path(bob.toUpperCase()), 200)
    assert.equal(body.data.length, 3)
    const current = body.data.filter((session: { attributes: { current: boolean } }) => session.attributes.current)
    assert.equal(current.length, 1)
    const { type, attributes } = current[0]
    assert.equal(type, 'sessions')
    assert.equal(attributes.client_address, '127.0.0.1')
    assert.deepEqual(Object.keys(attributes).sort(), [
      'client_address',
      'created_at',
      'current',
      'expires_at',
      'last_seen_at',
      'user_agent',
    ])
    const otherId = (await anonymous.as({ token: other.token }).get(path(bob), 200)).body.data.find(
      (session: { attributes: { current: boolean } }) => session.attributes.current,
    ).id
    await caller.delete(path(bob, otherId), 204)
    await anonymous.as({ token: other.token }).get(path(bob), 403)
    const { body: gone } = await caller.delete(path(bob, otherId), 404)
    assert.deepEqual(gone, { errors: [`Session ${otherId} not found`] })
    await caller.delete(path(bob, 'nonsense'), 404)
    await caller.delete(path(bob), 204)
    for (const { token } of [mine, third]) await anonymous.as({ token }).get(path(bob), 403)
  })

  test('of others need user_access_manage, which is judged before anything is looked up', async () => {
    const carol = await addPerson(server, { email: 'carol@example.org', password: PASSWORD })
    const theirs = await signIn('carol@example.org')
    const ada = anonymous.as({ token: (await signIn()).token })
    for (const user of [carol, '018f0000-0000-7000-8000-000000000000', 'nonsense']) {
      const { body } = await ada.get(path(user), 403)
      assert.deepEqual(body, { errors: ['Missing permission: user_access_manage'] })
      await ada.delete(path(user), 403)
      await ada.delete(path(user, '018f0000-0000-7000-8000-000000000000'), 403)
    }
    const administrator = client(server)
    assert.equal((await administrator.get(path(carol), 200)).body.data.length, 1)
    await administrator.get(path('018f0000-0000-7000-8000-000000000000'), 404)
    await administrator.get(path('nonsense'), 404)
    await administrator.delete(path(carol), 204)
    await anonymous.as({ token: theirs.token }).get(path(carol), 403)
    await anonymous.get(path(carol), 401)
  })
})

describe('the log of the server', () => {
  test('names nobody who signed in and holds nothing they typed', async () => {
    const { token, csrfToken } = await signIn()
    for (const secret of [token, csrfToken, PASSWORD, ADA, 'bob@example.org']) {
      assert.equal(server.output().includes(secret), false, secret)
    }
  })
})
