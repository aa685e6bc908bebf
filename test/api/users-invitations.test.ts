import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MICROS_PER_SECOND, SystemClock } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { type People, peopleIn } from '../support/people.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PASSWORD = 'a password for tests'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const PATH = '/api/v2/user_invitations'

function invitation(id: unknown, type: unknown = 'users'): object {
  return { type: 'user_invitations', relationships: { user: { data: { id, type } } } }
}

function token(text: unknown): object {
  return { body: { data: { type: 'invitation_tokens', attributes: { token: text } } } }
}

function acceptance(attributes: object): object {
  return { body: { data: { type: 'invitation_acceptances', attributes } } }
}

describe('invitations over HTTP, without a mail server', () => {
  let server: TestServer
  let db: Database
  let people: People
  let admin: TestClient
  let anybody: TestClient
  before(async () => {
    server = await startServer({
      mode: 'serve',
      env: {
        COMMONPLACE_BASE_URL: 'https://commonplace.example.org',
        COMMONPLACE_USERS__RATE_LIMITS: JSON.stringify({
          invitations: { limit: 150, period: '1d' },
          public_auth: { limit: 0, period: '1d' },
          public_auth_account: { limit: 3, period: '1d' },
        }),
      },
    })
    db = await openDatabase({ dataDir: server.dataDir, clock: new SystemClock(), log: silentLogger() })
    people = await peopleIn(db)
    admin = client(server)
    anybody = admin.as('none')
  })
  after(async () => {
    await db.close()
    await server.stop()
  })

  /** Invites somebody new; the token is the one of the link in the answer. */
  async function invited(email: string) {
    const userId = await people.pending(email)
    const { body } = await admin.post(PATH, 201, { body: { data: [invitation(userId)] } })
    const [data] = body.data
    return { userId, data, token: body.meta.accept_links[data.id].split('#token=')[1] as string }
  }

  test('an invitation is answered with everything that clients rely on, and a link to pass on', async () => {
    const userId = await people.pending('shape@example.org')
    const { body, text } = await admin.post(PATH, 201, { body: { data: [invitation(userId)], extra: 1 } })
    const [data] = body.data
    const { created_at, expires_at, ...attributes } = data.attributes
    assert.match(data.id, UUID)
    assert.deepEqual(attributes, {
      invite_type: 'openid_invite',
      uuid: data.id,
      login_method: null,
      status: 'pending',
      accepted_at: null,
      delivery: 'disabled',
    })
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 48 * 3_600_000)
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(data.relationships, { user: { data: { id: userId, type: 'users' } } })
    assert.deepEqual(Object.keys(body.meta.accept_links), [data.id])
    assert.match(
      body.meta.accept_links[data.id],
      /^https:\/\/commonplace\.example\.org\/invite#token=[A-Za-z0-9_-]{43}$/,
    )
    const again = await admin.get(`${PATH}/${data.id.toUpperCase()}`, 200)
    assert.deepEqual(again.body, { data })
    assert.equal(text.includes('token_hash'), false)
    assert.doesNotMatch(again.text, /token/)
  })

  test('only callers who may manage users are told the links', async () => {
    const standard = admin.as({ token: await people.token('standard@example.org', 'standard') })
    const { body } = await standard.post(PATH, 201, {
      body: { data: [invitation(await people.pending('quiet@example.org'))] },
    })
    assert.equal('meta' in body, false)
  })

  test('every problem of a body is named in one answer, and nobody is invited', async () => {
    const before = await admin.get(PATH, 200)
    const shape = await admin.post(PATH, 400, {
      body: { data: [invitation(7), invitation('x', 'roles'), { type: 'users' }, 'text'] },
    })
    assert.deepEqual(shape.body.errors.sort(), [
      'data[0].relationships.user.data.id must be a string',
      'data[1].relationships.user.data.type must be "users"',
      'data[2].relationships is required',
      'data[2].type must be "user_invitations"',
      'data[3] must be an object',
    ])
    const pending = await people.pending('fine@example.org')
    const active = await people.active('active@example.org')
    const unknown = newId()
    const meaning = await admin.post(PATH, 400, {
      body: { data: [pending, active, unknown, 'x'.repeat(500), pending].map((id) => invitation(id)) },
    })
    assert.deepEqual(meaning.body.errors, [
      `User ${active} is already active`,
      `User ${unknown} not found`,
      `User ${'x'.repeat(100)}… not found`,
      `User ${pending} is named more than once`,
    ])
    const after = await admin.get(PATH, 200)
    assert.deepEqual(after.body.meta, before.body.meta)
  })

  test('one to a hundred invitations fit into a call', async () => {
    const none = await admin.post(PATH, 400, { body: { data: [] } })
    assert.deepEqual(none.body, { errors: ['data must not be empty'] })
    const many = await admin.post(PATH, 400, { body: { data: Array.from({ length: 101 }, () => invitation(newId())) } })
    assert.deepEqual(many.body, { errors: ['data must have at most 100 items'] })
    await admin.post(PATH, 400, { body: { data: {} } })
    await admin.post(PATH, 400, { body: {} })
    await admin.post(PATH, 400, { body: '[]', headers: { 'content-type': 'application/json' } })
    await admin.post(PATH, 415, { body: 'data', headers: { 'content-type': 'text/plain' } })
  })

  test('who may not invite may neither read nor revoke invitations', async () => {
    const reader = admin.as({ token: await people.token('reader@example.org', 'read_only') })
    const nobody = admin.as({ token: await people.token('nobody@example.org') })
    const { userId, data } = await invited('guarded@example.org')
    for (const caller of [reader, nobody]) {
      const calls = [
        caller.post(PATH, 403, { body: { data: [invitation(userId)] } }),
        caller.get(PATH, 403),
        caller.get(`${PATH}/${data.id}`, 403),
        caller.get(`${PATH}/nonsense`, 403),
        caller.delete(`/api/v2/users/${userId}/invitations`, 403),
      ]
      for (const { body } of await Promise.all(calls)) {
        assert.deepEqual(body, { errors: ['Missing permission: user_access_invite'] })
      }
    }
    await anybody.get(PATH, 401)
    await anybody.post(PATH, 401, { body: { data: [] } })
    await admin.as({ token: 'x'.repeat(40) }).get(PATH, 403)
  })

  test('an unknown invitation or user is not found', async () => {
    const id = newId()
    const unknown = await admin.get(`${PATH}/${id}`, 404)
    assert.deepEqual(unknown.body, { errors: [`Invitation ${id} not found`] })
    assert.deepEqual((await admin.get(`${PATH}/nonsense`, 404)).body, { errors: ['Invitation nonsense not found'] })
    const user = await admin.delete(`/api/v2/users/${id}/invitations`, 404)
    assert.deepEqual(user.body, { errors: [`User ${id} not found`] })
    await admin.delete('/api/v2/users/nonsense/invitations', 404)
  })

  test('revoking counts what was pending, and the link stops working', async () => {
    const { userId, data, token: secret } = await invited('revoked@example.org')
    const url = `/api/v2/users/${userId}/invitations`
    assert.deepEqual((await admin.delete(url, 200)).body, { meta: { revoked_count: 1 } })
    assert.deepEqual((await admin.delete(url, 200)).body, { meta: { revoked_count: 0 } })
    assert.equal((await admin.get(`${PATH}/${data.id}`, 200)).body.data.attributes.status, 'revoked')
    await anybody.post(`${PATH}/lookup`, 404, token(secret))
  })

  test('the list is filtered by status and user, and pages', async () => {
    const { userId, data } = await invited('listed@example.org')
    const byUser = await admin.get(`${PATH}?filter%5Buser%5D=${userId}&filter[status]=Pending,+revoked`, 200)
    assert.deepEqual(byUser.body.data, [data])
    assert.equal(byUser.body.meta.page.total_filtered_count, 1)
    const first = await admin.get(`${PATH}?page[size]=1`, 200)
    assert.equal(first.body.data.length, 1)
    assert.ok(first.body.meta.page.total_count > 1)
    assert.deepEqual((await admin.get(`${PATH}?page[number]=999999999999999&page[size]=100`, 200)).body.data, [])
    for (const none of ['nonsense', ',']) {
      assert.deepEqual((await admin.get(`${PATH}?filter[user]=${none}`, 200)).body.data, [])
    }
    const { total_count, total_filtered_count } = (await admin.get(`${PATH}?filter[user]=+`, 200)).body.meta.page
    assert.equal(total_filtered_count, total_count, 'an empty filter is none')
    const wrong = await admin.get(`${PATH}?filter[status]=open,lost&page[size]=10`, 400)
    assert.equal(wrong.body.errors.length, 2)
    await admin.get(`${PATH}?page[size]=101`, 400)
  })

  test('looking up a token shows for whom and where, and one text answers every bad one', async () => {
    const { token: secret, data } = await invited('lookup@example.org')
    const { body } = await anybody.post(`${PATH}/lookup`, 200, token(secret))
    assert.equal(body.data.id, data.id)
    assert.equal(body.data.attributes.email, 'lookup@example.org')
    assert.equal(typeof body.data.attributes.org_name, 'string')
    for (const bad of ['', 'x', 'A'.repeat(43), 'é'.repeat(43), '\0']) {
      const refused = await anybody.post(`${PATH}/lookup`, 404, token(bad))
      assert.deepEqual(refused.body, { errors: ['Invitation is not valid'] })
    }
    await anybody.post(`${PATH}/lookup`, 400, token(7))
    await anybody.post(`${PATH}/lookup`, 400, { body: { data: { type: 'tokens', attributes: {} } } })
  })

  test('accepting signs the user in, once', async () => {
    const { userId, data, token: secret } = await invited('accept@example.org')
    const weak = await anybody.post(`${PATH}/accept`, 400, acceptance({ token: secret, password: 'short' }))
    assert.deepEqual(weak.body, { errors: ['data.attributes.password must have at least 12 characters'] })
    const input = acceptance({ token: secret, password: PASSWORD, name: 'Ada' })
    const { body, headers } = await anybody.post(`${PATH}/accept`, 200, input)
    assert.equal(body.data.id, userId)
    const { status, verified, name, disabled, last_login_time } = body.data.attributes
    assert.deepEqual([status, verified, name, disabled], ['Active', true, 'Ada', false])
    assert.ok(last_login_time)
    assert.equal(body.included[0].type, 'orgs')
    assert.match(headers.get('set-cookie') ?? '', /^commonplace_session=ses_[\w-]{43};.*HttpOnly/)
    assert.equal(headers.get('cache-control'), 'private, no-store')
    const signedIn = admin.as({ token: body.meta.session.token })
    const session = await signedIn.get('/api/v2/auth/session', 200)
    assert.equal(session.body.data.id, userId)
    const again = await anybody.post(`${PATH}/accept`, 404, input)
    assert.deepEqual(again.body, { errors: ['Invitation is not valid'] })
    assert.equal((await admin.get(`${PATH}/${data.id}`, 200)).body.data.attributes.status, 'accepted')
  })

  test('accepting asks for the second factor that somebody has from before, with as few guesses as a sign-in', async () => {
    const { token: secret, userId } = await invited('again@example.org')
    const [code] = await giveSecondFactor(server, 'again@example.org')
    const accept = (status: number, totp?: string | null) =>
      anybody.post(`${PATH}/accept`, status, acceptance({ token: secret, password: PASSWORD, totp }))
    for (const nothing of [undefined, null, '']) {
      assert.deepEqual((await accept(401, nothing)).body, { errors: ['TOTP code required'] })
    }
    const { body, headers } = await accept(401, 'aaaa-aaaa-aaaa-aaaa')
    assert.deepEqual([body, headers.get('set-cookie')], [{ errors: ['Sign-in failed'] }, null])
    const { data } = (await admin.get(`/api/v2/audit/events?filter[target]=${userId}&page[limit]=1`, 200)).body
    assert.deepEqual(
      [data[0].attributes.action, data[0].attributes.changes.reason.new],
      ['session.failed', 'wrong_code'],
    )
    assert.equal((await accept(200, code)).body.data.attributes.mfa_enabled, true)
    const other = await invited('guesser@example.org')
    await giveSecondFactor(server, 'guesser@example.org')
    const guess = acceptance({ token: other.token, password: PASSWORD, totp: 'aaaa-aaaa-aaaa-aaaa' })
    for (let tries = 0; tries < 3; tries++) await anybody.post(`${PATH}/accept`, 401, guess)
    const refused = await anybody.post(`${PATH}/accept`, 429, guess)
    assert.equal(refused.headers.get('x-ratelimit-name'), 'public_auth_account')
  })

  test('an expired invitation can be read and not accepted', async () => {
    const { data, token: secret } = await invited('expired@example.org')
    const past = new SystemClock().now() - MICROS_PER_SECOND
    await db.write((tx) =>
      tx.query.updateTable('user_invitations').set({ expires_at: past }).where('id', '=', data.id).execute(),
    )
    assert.equal((await admin.get(`${PATH}/${data.id}`, 200)).body.data.attributes.status, 'expired')
    await anybody.post(`${PATH}/accept`, 404, acceptance({ token: secret, password: PASSWORD }))
  })

  test('a link to prove an address that is none is refused', async () => {
    const body = { data: { type: 'email_verifications', attributes: { token: 'A'.repeat(43) } } }
    const { body: refused } = await anybody.post('/api/v2/auth/email_verifications/confirm', 404, { body })
    assert.deepEqual(refused, { errors: ['Verification is not valid'] })
    await anybody.post('/api/v2/auth/email_verifications/confirm', 400, { body: { data: {} } })
  })

  // The last one, because it leaves nothing of the bucket.
  test('invitations are counted one by one, and a call that does not fit does nothing', async () => {
    const { headers } = await admin.post(PATH, 400, { body: {} })
    assert.equal(headers.get('x-ratelimit-name'), 'invitations')
    const left = Number(headers.get('x-ratelimit-remaining'))
    assert.ok(left > 100 && left < 150)
    const unknown = (count: number) => ({ body: { data: Array.from({ length: count }, () => invitation(newId())) } })
    const first = await admin.post(PATH, 400, unknown(100))
    assert.equal(Number(first.headers.get('x-ratelimit-remaining')), left - 100)
    const refused = await admin.post(PATH, 429, unknown(left - 99))
    assert.match(refused.body.errors[0], /^Rate limit exceeded, retry in \d+ seconds$/)
    assert.equal(refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-reset'))
    await admin.post(PATH, 400, unknown(left - 100))
    await admin.post(PATH, 429, unknown(1))
  })

  test('no address, name or token was written to the log', () => {
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    assert.ok(lines.length > 10)
    assert.deepEqual(
      lines.filter((line) => /@example\.org|token|Ada/.test(line)),
      [],
    )
  })
})
