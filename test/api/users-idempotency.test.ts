import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

let server: TestServer
let admin: TestClient
let callers: Callers
before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  admin = client(server)
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

function user(email: string, key: string) {
  return { body: { data: { type: 'users', attributes: { email } } }, headers: { 'idempotency-key': key } }
}

describe('Idempotency-Key', () => {
  test('makes a repeat of a request harmless and gives it the same answer', async () => {
    const first = await admin.post('/api/v2/users', 201, user('one@example.org', 'one'))
    const second = await admin.post('/api/v2/users', 201, user('one@example.org', 'one'))
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(second.body, first.body)
    for (const name of ['location', 'etag', 'content-type']) {
      assert.equal(second.headers.get(name), first.headers.get(name), name)
    }
    assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'))
    assert.ok(second.headers.get('x-ratelimit-limit') === first.headers.get('x-ratelimit-limit'))
  })

  test('keeps a refusal of the operation, too', async () => {
    await admin.post('/api/v2/users', 201, user('taken@example.org', 'taken-1'))
    const first = await admin.post('/api/v2/users', 409, user('taken@example.org', 'taken-2'))
    const second = await admin.post('/api/v2/users', 409, user('taken@example.org', 'taken-2'))
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.equal(second.text, first.text)
  })

  test('belongs to its caller', async () => {
    await admin.post('/api/v2/users', 201, user('two@example.org', 'two'))
    const other = await callers.make({ roles: ['admin'] })
    const answer = await other.client.post('/api/v2/users', 409, user('two@example.org', 'two'))
    assert.equal(answer.headers.get('idempotent-replayed'), null)
  })

  test('belongs to its path', async () => {
    const clone = (name: string, key: string) => ({
      body: { data: { type: 'roles', attributes: { name } } },
      headers: { 'idempotency-key': key },
    })
    const [a, b] = [
      await admin.post('/api/v2/roles', 200, clone('A', 'role-a')),
      await admin.post('/api/v2/roles', 200, clone('B', 'role-b')),
    ]
    const one = await admin.post(`/api/v2/roles/${a.body.data.id}/clone`, 200, clone('A2', 'clone'))
    const two = await admin.post(`/api/v2/roles/${b.body.data.id}/clone`, 200, clone('B2', 'clone'))
    assert.notEqual(one.body.data.id, two.body.data.id)
    const again = await admin.post(`/api/v2/roles/${a.body.data.id}/clone`, 200, clone('A2', 'clone'))
    assert.equal(again.body.data.id, one.body.data.id)
    const upper = await admin.post(`/api/v2/roles/${a.body.data.id.toUpperCase()}/clone`, 200, clone('A2', 'clone'))
    assert.equal(upper.body.data.id, one.body.data.id, 'the same id in upper case')
    await admin.post(`/api/v2/roles/${a.body.data.id.replaceAll('-', '')}/clone`, 404, clone('A3', 'no-hyphens'))
    await admin.post(`/api/v2/roles/${a.body.data.id}/clone`, 200, clone('A3', 'no-hyphens'))
  })

  test('refuses another body with 422 and its own text', async () => {
    await admin.post('/api/v2/users', 201, user('three@example.org', 'three'))
    const { body } = await admin.post('/api/v2/users', 422, user('four@example.org', 'three'))
    assert.deepEqual(body, { errors: ['Idempotency-Key was used with a different request'] })
    const { body: list } = await admin.get('/api/v2/users?filter=four@example.org', 200)
    assert.deepEqual(list.data, [])
  })

  test('of the wrong form is 400, and nothing happens', async () => {
    for (const key of ['a b', 'x'.repeat(256)]) {
      const { body } = await admin.post('/api/v2/users', 400, user('five@example.org', key))
      assert.deepEqual(body, { errors: ['Idempotency-Key must have 1 to 255 visible ASCII characters'] })
    }
    const { body: list } = await admin.get('/api/v2/users?filter=five@example.org', 200)
    assert.deepEqual(list.data, [])
  })

  test('is not used up by a body that is malformed', async () => {
    const headers = { 'idempotency-key': 'malformed' }
    await admin.post('/api/v2/users', 400, { body: { data: {} }, headers })
    await admin.post('/api/v2/users', 201, user('six@example.org', 'malformed'))
  })

  test('runs the request once however many send it at the same moment', async () => {
    const calls = Array.from({ length: 16 }, () =>
      fetch(new URL('/api/v2/users', server.url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.adminToken}`,
          'content-type': 'application/json',
          'idempotency-key': 'at-once',
        },
        body: JSON.stringify(user('once@example.org', '').body),
      }),
    )
    const answers = await Promise.all(calls)
    const created = answers.filter(({ status }) => status === 201)
    const waiting = answers.filter(({ status }) => status === 409)
    assert.equal(created.length + waiting.length, answers.length)
    assert.equal(created.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1)
    for (const { headers } of waiting) assert.equal(headers.get('retry-after'), '1')
    for (const answer of answers) await answer.text()
    const { body: list } = await admin.get('/api/v2/users?filter=once@example.org', 200)
    assert.equal(list.data.length, 1)
  })

  test('never shows a secret again, nor keeps it', async () => {
    const year = new Date(Date.now() + 30 * 86_400_000).toISOString()
    const post = (path: string, data: object, key: string) =>
      admin.post(path, 201, { body: { data }, headers: { 'idempotency-key': key } })
    const made: [string, object][] = [
      ['/api/v2/api_keys', { type: 'api_keys', attributes: { name: 'k' } }],
      ['/api/v2/current_user/application_keys', { type: 'application_keys', attributes: { name: 'k' } }],
      [
        '/api/v2/personal_access_tokens',
        { type: 'personal_access_tokens', attributes: { name: 'k', scopes: ['user_access_read'], expires_at: year } },
      ],
    ]
    const secrets: string[] = []
    for (const [path, data] of made) {
      const first = await post(path, data, `secret ${path}`.replaceAll(' ', '-'))
      const again = await post(path, data, `secret ${path}`.replaceAll(' ', '-'))
      const { key, ...rest } = first.body.data.attributes
      assert.ok(key.length >= 32)
      secrets.push(key)
      assert.deepEqual(again.body.data, { ...first.body.data, attributes: { ...rest, key: '' } })
    }
    const { body: invited } = await admin.post('/api/v2/users', 201, user('invited@example.org', 'invited'))
    const data = [
      { type: 'user_invitations', relationships: { user: { data: { type: 'users', id: invited.data.id } } } },
    ]
    const sent = await post('/api/v2/user_invitations', data, 'invitation')
    const repeat = await post('/api/v2/user_invitations', data, 'invitation')
    const [link] = Object.values(sent.body.meta.accept_links) as string[]
    secrets.push(link?.split('#token=')[1] as string)
    assert.deepEqual(repeat.body, { ...sent.body, meta: { accept_links: {} } })
    const kept = await callers.db.query.selectFrom('idempotency_keys').select('body').execute()
    const text = kept.map(({ body }) => Buffer.from(body ?? []).toString()).join('\n')
    for (const secret of secrets) assert.equal(text.includes(secret), false)
  })

  test('goes with the person whom the kept answer shows', async () => {
    const { body } = await admin.post('/api/v2/users', 201, user('gone@example.org', 'gone-1'))
    await admin.post('/api/v2/users', 409, user('gone@example.org', 'gone-2'))
    const data = { type: 'anonymize_users_request', attributes: { user_ids: [body.data.id] } }
    await admin.put('/api/v2/anonymize_users', 200, { body: { data } })
    const rows = await callers.db.query.selectFrom('idempotency_keys').select(['key', 'body']).execute()
    assert.equal(
      rows.some(({ key }) => key.startsWith('gone')),
      false,
    )
    assert.equal(JSON.stringify(rows.map((row) => Buffer.from(row.body ?? []).toString())).includes('gone@'), false)
  })

  test('is not heard by operations without a caller', async () => {
    const attributes = { email: 'nobody@example.org', password: newId() }
    const options = { body: { data: { type: 'sign_ins', attributes } }, headers: { 'idempotency-key': 'sign-in' } }
    const nobody = admin.as('none')
    for (let n = 0; n < 2; n++) {
      const { headers } = await nobody.post('/api/v2/auth/sign_in', 401, options)
      assert.equal(headers.get('idempotent-replayed'), null)
    }
  })
})
