import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const OWN = '/api/v2/current_user/application_keys'
const ALL = '/api/v2/application_keys'
const API = '/api/v2/api_keys'
const TOKENS = '/api/v2/personal_access_tokens'
const DAY_MS = 86_400_000

let server: TestServer
let callers: Callers
let admin: TestClient
before(async () => {
  server = await startServer({ mode: 'dev' })
  callers = await openCallers(server)
  admin = client(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

function body(type: string, attributes: object, id?: string) {
  return { body: { data: { type, id, attributes } } }
}

function key(attributes: object, id?: string) {
  return body('application_keys', attributes, id)
}

function token(attributes: object, id?: string) {
  return body('personal_access_tokens', attributes, id)
}

function inDays(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString()
}

async function robot(roles: string[] = []) {
  const data = roles.map((id) => ({ id, type: 'roles' }))
  const attributes = { email: 'robots@example.org', name: 'Robot', service_account: true }
  const document = { data: { type: 'users', attributes, relationships: { roles: { data } } } }
  return admin.post('/api/v2/service_accounts', 201, { body: document })
}

async function roleId(name: string): Promise<string> {
  const { data } = (await admin.get(`/api/v2/roles?filter=${encodeURIComponent(name)}`, 200)).body
  return data[0].id
}

describe("one's own application keys", () => {
  test('show their secret once, at creation, and work together with an API key', async () => {
    const { client: ada, userId } = await callers.make({ roles: ['standard'] })
    const { data } = (await ada.post(OWN, 201, key({ name: ' Laptop ' }))).body
    const { key: secret, created_at, ...attributes } = data.attributes
    assert.match(secret, /^[0-9a-f]{40}$/)
    assert.match(created_at, /Z$/)
    assert.deepEqual(attributes, { name: 'Laptop', last4: secret.slice(-4), scopes: null, last_used_at: null })
    assert.deepEqual(data.relationships, { owned_by: { data: { id: userId, type: 'users' } } })
    const byKeys = ada.as({ apiKey: server.apiKey, applicationKey: secret })
    await byKeys.get('/api/v2/roles', 200)
    for (const answer of [await ada.get(`${OWN}/${data.id}`, 200), await ada.get(OWN, 200)]) {
      assert.equal(answer.text.includes(secret), false)
      assert.equal(answer.text.includes('"key"'), false)
    }
    const got = (await ada.get(`${OWN}/${data.id.toUpperCase()}`, 200)).body.data
    assert.deepEqual(got.attributes, { ...attributes, created_at, last_used_at: got.attributes.last_used_at })
    await ada.delete(`${OWN}/${data.id}`, 204)
    await ada.delete(`${OWN}/${data.id}`, 404)
    await byKeys.get('/api/v2/roles', 403)
  })

  test('are renamed and narrowed; a scope acts at once', async () => {
    const { client: ada } = await callers.make({ roles: ['standard'] })
    const { data } = (await ada.post(OWN, 201, key({ name: 'Wide', scopes: null }))).body
    const byKeys = ada.as({ apiKey: server.apiKey, applicationKey: data.attributes.key })
    await byKeys.get(OWN, 200)
    const path = `${OWN}/${data.id}`
    const scopes = ['user_access_read', 'org_management', 'user_access_read']
    const narrowed = (await ada.patch(path, 200, key({ name: 'Narrow', scopes }, data.id))).body.data
    assert.deepEqual([narrowed.attributes.name, narrowed.attributes.scopes], ['Narrow', scopes.slice(0, 2)])
    await byKeys.get(OWN, 403)
    await byKeys.get('/api/v2/roles', 200)
    const renamed = (await ada.patch(path, 200, key({ name: 'Still narrow' }, data.id))).body.data
    assert.deepEqual(renamed.attributes.scopes, scopes.slice(0, 2))
    await ada.patch(path, 200, key({ scopes: null }, data.id))
    await byKeys.get(OWN, 200)
    assert.deepEqual((await ada.patch(path, 200, key({}, data.id))).body.data.attributes.name, 'Still narrow')
  })

  test('report every problem of a body', async () => {
    const { errors } = (await admin.post(OWN, 400, body('api_keys', { name: ' ', scopes: ['admin', 'flying'] }))).body
    assert.deepEqual(errors, [
      'data.type must be "application_keys"',
      'data.attributes.name must not be empty',
      'data.attributes.scopes holds "flying", which is not a permission',
    ])
    await admin.post(OWN, 400, key({}))
    await admin.post(OWN, 400, key({ name: 7 }))
    await admin.post(OWN, 400, key({ name: 'x', scopes: 'admin' }))
    const { data } = (await admin.post(OWN, 201, key({ name: 'Fine' }))).body
    await admin.patch(`${OWN}/${data.id}`, 400, key({ name: null }, data.id))
    await admin.patch(`${OWN}/${data.id}`, 400, key({ name: 'No id' }))
    await admin.patch(`${OWN}/${data.id}`, 422, key({ name: 'Another id' }, newId()))
    const unknown = newId()
    const answer = await admin.patch(`${OWN}/${unknown}`, 404, key({ name: 'Nothing' }, unknown))
    assert.deepEqual(answer.body.errors, [`Application key ${unknown} not found`])
    await admin.get(`${OWN}/nonsense`, 404)
  })

  test("are nobody else's business, except of whoever manages all of them", async () => {
    const ada = await callers.make({ roles: ['standard'] })
    const eve = await callers.make({ roles: ['standard'] })
    const { data } = (await ada.client.post(OWN, 201, key({ name: 'Private' }))).body
    const path = `${OWN}/${data.id}`
    await eve.client.get(path, 404)
    await eve.client.patch(path, 404, key({ name: 'Taken' }, data.id))
    await eve.client.delete(path, 404)
    assert.deepEqual((await eve.client.get(OWN, 200)).body.data, [])
    for (const method of ['GET', 'PATCH', 'DELETE']) await eve.client.call(method, `${ALL}/${data.id}`, 403)
    await eve.client.get(ALL, 403)
    const { client: reader } = await callers.make({ roles: ['read_only'] })
    await reader.get(OWN, 403)
    await reader.post(OWN, 403, key({ name: 'x' }))
    const manager = (await callers.make({ permissions: ['org_app_keys_manage'] })).client
    assert.equal((await manager.get(`${ALL}?filter=private`, 200)).body.data[0].id, data.id)
    await manager.patch(`${ALL}/${data.id}`, 200, key({ name: 'Seen' }, data.id))
    assert.equal((await ada.client.get(path, 200)).body.data.attributes.name, 'Seen')
    await manager.delete(`${ALL}/${data.id}`, 204)
    await manager.get(`${ALL}/${data.id}`, 404)
    await manager.post(ALL, 405, key({ name: 'Not here' }))
  })

  test('are listed by pages, in order, with counts', async () => {
    const { client: ada } = await callers.make({ roles: ['standard'] })
    for (const name of ['b', 'A', 'ä', 'c_%']) await ada.post(OWN, 201, key({ name }))
    const list = async (query: string) => (await ada.get(`${OWN}?${query}`, 200)).body
    const names = ({ data }: { data: { attributes: { name: string } }[] }) => data.map((one) => one.attributes.name)
    assert.deepEqual(names(await list('')), ['A', 'b', 'c_%', 'ä'])
    assert.deepEqual(names(await list('sort=-name')), ['ä', 'c_%', 'b', 'A'])
    assert.deepEqual(names(await list('sort=created_at')), ['b', 'A', 'ä', 'c_%'])
    const page = await list('page[size]=3&page[number]=1')
    assert.deepEqual([names(page), page.meta.page], [['ä'], { total_count: 4, total_filtered_count: 4 }])
    const filtered = await list('filter=_%25')
    assert.deepEqual([names(filtered), filtered.meta.page], [['c_%'], { total_count: 4, total_filtered_count: 1 }])
    assert.deepEqual((await list('page[number]=999999999999999')).data, [])
    await ada.get(`${OWN}?sort=colour`, 400)
    await ada.get(`${OWN}?page[size]=101`, 400)
  })
})

describe('a narrowed credential', () => {
  test('makes no key or token that can do more than itself', async () => {
    const { client: narrow } = await callers.make({ roles: ['standard'], scopes: ['user_app_keys', 'notes_read'] })
    const refusal = /^You cannot grant a permission you do not have: /
    for (const scopes of [null, ['notes_read', 'notes_write']]) {
      assert.match((await narrow.post(OWN, 403, key({ name: 'x', scopes }))).body.errors[0], refusal)
      const attributes = { name: 'x', scopes, expires_at: inDays(1) }
      assert.match((await narrow.post(TOKENS, 403, token(attributes))).body.errors[0], refusal)
    }
    // A scope that the owner lacks has no effect, so it grants nothing.
    const made = (await narrow.post(OWN, 201, key({ name: 'x', scopes: ['notes_read', 'org_management'] }))).body.data
    await narrow.patch(`${OWN}/${made.id}`, 403, key({ scopes: null }, made.id))
    await narrow.patch(`${OWN}/${made.id}`, 200, key({ name: 'y', scopes: [] }, made.id))
  })
})

describe('service accounts', () => {
  test('are Active users with their id as handle, and may share an address', async () => {
    const { data, included } = (await robot([await roleId('Platform Read Only Role')])).body
    const { attributes, relationships } = data
    assert.deepEqual(
      [attributes.handle, attributes.status, attributes.verified, attributes.service_account, attributes.email],
      [data.id, 'Active', true, true, 'robots@example.org'],
    )
    assert.equal(relationships.roles.data.length, 1)
    assert.equal(included[0].type, 'orgs')
    const second = await robot()
    assert.equal(second.headers.get('location'), `/api/v2/users/${second.body.data.id}`)
  })

  test('report every problem of a body', async () => {
    const attributes = { email: 'a@b@c', name: 'x'.repeat(256), title: 7 }
    const { errors } = (await admin.post('/api/v2/service_accounts', 400, body('robots', attributes))).body
    assert.deepEqual(errors, [
      'data.type must be "users"',
      'data.attributes.email is not a valid email address',
      'data.attributes.name must have at most 255 characters',
      'data.attributes.title must be a string or null',
    ])
    const [one, two] = [newId(), 'nonsense']
    const data = [one, two].map((id) => ({ id, type: 'roles' }))
    const document = {
      data: { type: 'users', attributes: { email: 'r@example.org' }, relationships: { roles: { data } } },
    }
    const answer = await admin.post('/api/v2/service_accounts', 400, { body: document })
    assert.deepEqual(answer.body.errors, [`Role ${one} not found`, `Role ${two} not found`])
  })

  test('have keys that their managers make, but not with more rights than the manager has', async () => {
    const { id } = (await robot([await roleId('Platform Read Only Role')])).body.data
    const path = `/api/v2/service_accounts/${id}/application_keys`
    const manager = (await callers.make({ roles: ['read_only'], permissions: ['service_account_write'] })).client
    const { data } = (await manager.post(path, 201, key({ name: 'Deploy' }))).body
    assert.deepEqual(data.relationships.owned_by.data, { id, type: 'users' })
    const byKeys = client(server, { apiKey: server.apiKey, applicationKey: data.attributes.key })
    await byKeys.get('/api/v2/roles', 200)
    assert.equal((await manager.get(path, 200)).body.data.length, 1)
    assert.equal((await manager.get(`${path}/${data.id}`, 200)).body.data.attributes.key, undefined)
    await manager.patch(`${path}/${data.id}`, 200, key({ name: 'Deploy 2' }, data.id))
    await manager.delete(`${path}/${data.id}`, 204)
    await byKeys.get('/api/v2/roles', 403)
    const powerful = (await robot([await roleId('Platform Admin Role')])).body.data.id
    const other = `/api/v2/service_accounts/${powerful}/application_keys`
    await manager.post(other, 403, key({ name: 'Mine' }))
    await manager.post(other, 201, key({ name: 'Little', scopes: ['notes_read'] }))
    const admins = await roleId('Platform Admin Role')
    const attributes = { email: 'r@example.org', service_account: true }
    const relationships = { roles: { data: [{ id: admins, type: 'roles' }] } }
    await manager.post('/api/v2/service_accounts', 403, {
      body: { data: { type: 'users', attributes, relationships } },
    })
  })

  test('are no people: the keys of a person, or of nobody, are not found there', async () => {
    const { userId, client: standard } = await callers.make({ roles: ['standard'] })
    for (const id of [userId, newId(), 'nonsense']) {
      const path = `/api/v2/service_accounts/${id}/application_keys`
      assert.deepEqual((await admin.get(path, 404)).body.errors, [`Service account ${id} not found`])
      await admin.post(path, 404, key({ name: 'x' }))
      await admin.delete(`${path}/${newId()}`, 404)
      await standard.get(path, 403)
    }
    await standard.post('/api/v2/service_accounts', 403)
    const one = (await robot()).body.data.id
    const mine = (await admin.post(OWN, 201, key({ name: 'Mine' }))).body.data.id
    await admin.get(`/api/v2/service_accounts/${one}/application_keys/${mine}`, 404)
  })
})

describe('API keys', () => {
  test('are made, renamed and revoked, and show their secret once', async () => {
    const { data } = (await admin.post(API, 201, body('api_keys', { name: ' Site ' }))).body
    const secret = data.attributes.key
    assert.match(secret, /^[0-9a-f]{32}$/)
    assert.deepEqual([data.attributes.name, data.attributes.last4], ['Site', secret.slice(-4)])
    const byKeys = client(server, { apiKey: secret, applicationKey: server.applicationKey })
    await byKeys.get(API, 200)
    const path = `${API}/${data.id}`
    const renamed = (await admin.patch(path, 200, body('api_keys', { name: 'Site 2' }, data.id))).body.data
    assert.ok(renamed.attributes.modified_at >= data.attributes.modified_at)
    assert.deepEqual(renamed.relationships, data.relationships)
    const answer = await admin.get(path, 200)
    assert.deepEqual(answer.body.data, renamed)
    assert.equal(answer.text.includes(secret), false)
    const { errors } = (await byKeys.delete(path, 403)).body
    assert.deepEqual(errors, ['The API key in use cannot be revoked'])
    await byKeys.get(API, 200)
    await admin.delete(path, 204)
    await byKeys.get(API, 403)
    assert.deepEqual((await admin.delete(path, 404)).body.errors, [`API key ${data.id} not found`])
  })

  test('are listed, and refuse what they do not know', async () => {
    for (const name of ['zz b', 'ZZ a']) await admin.post(API, 201, body('api_keys', { name }))
    const { data, meta } = (await admin.get(`${API}?filter=zz&sort=-name`, 200)).body
    assert.deepEqual(
      data.map((one: { attributes: { name: string } }) => one.attributes.name),
      ['zz b', 'ZZ a'],
    )
    assert.equal(meta.page.total_filtered_count, 2)
    await admin.get(`${API}?sort=expires_at`, 400)
    await admin.post(API, 400, body('api_keys', { name: '' }))
    await admin.patch(`${API}/${newId()}`, 422, body('api_keys', { name: 'x' }, newId()))
    await admin.get(`${API}/nonsense`, 404)
  })

  test('are read and written by whoever has the permission for it', async () => {
    const { client: reader } = await callers.make({ permissions: ['api_keys_read'] })
    const { data } = (await reader.get(API, 200)).body
    await reader.get(`${API}/${data[0].id}`, 200)
    await reader.post(API, 403, body('api_keys', { name: 'x' }))
    await reader.patch(`${API}/${data[0].id}`, 403)
    await reader.delete(`${API}/${data[0].id}`, 403)
    const { client: writer } = await callers.make({ permissions: ['api_keys_write'] })
    await writer.get(API, 403)
    await writer.post(API, 201, body('api_keys', { name: 'Written' }))
  })
})

describe('personal access tokens', () => {
  test('work until they are revoked, and show their secret once', async () => {
    const { client: ada, userId } = await callers.make({ roles: ['standard'] })
    const expiresAt = inDays(30)
    const attributes = { name: 'Script', scopes: ['user_access_read'], expires_at: expiresAt }
    const { data } = (await ada.post(TOKENS, 201, token(attributes))).body
    const secret = data.attributes.key
    assert.match(secret, /^pat_[A-Za-z0-9]{22}_[A-Za-z0-9_-]{43}$/)
    assert.equal(secret.split('_')[1], data.attributes.public_portion)
    assert.deepEqual([data.attributes.expires_at, data.attributes.scopes], [expiresAt, ['user_access_read']])
    assert.deepEqual(data.relationships.owned_by.data, { id: userId, type: 'users' })
    const byToken = client(server, { token: secret })
    await byToken.get('/api/v2/roles', 200)
    await byToken.get(TOKENS, 403)
    const path = `${TOKENS}/${data.id}`
    assert.equal((await ada.get(path, 200)).text.includes(secret), false)
    const changed = (await ada.patch(path, 200, token({ name: 'Other', expires_at: inDays(300) }, data.id))).body.data
    assert.deepEqual([changed.attributes.name, changed.attributes.expires_at], ['Other', expiresAt])
    await ada.delete(path, 204)
    await byToken.get('/api/v2/roles', 403)
    await ada.delete(path, 404)
  })

  test('end within a year, at a time in the future, in any RFC 3339 form', async () => {
    const create = async (expires_at: unknown, status: number) =>
      (await admin.post(TOKENS, status, token({ name: 'x', expires_at }))).body
    assert.deepEqual((await create(undefined, 400)).errors, ['data.attributes.expires_at is required'])
    for (const wrong of ['tomorrow', '2030-01-01', '2030-02-30T00:00:00Z', 7, null]) await create(wrong, 400)
    assert.deepEqual((await create(inDays(-1), 400)).errors, ['expires_at must lie in the future'])
    assert.deepEqual((await create(inDays(367), 400)).errors, ['expires_at must be at most one year ahead'])
    const { data } = await create(inDays(300).replace(/\.\d+Z$/, '+02:00'), 201)
    assert.match(data.attributes.expires_at, /\.000Z$/)
    await create(inDays(365), 201)
  })

  test("are one's own alone, and need the permission", async () => {
    const { client: ada } = await callers.make({ roles: ['standard'] })
    const { id } = (await ada.post(TOKENS, 201, token({ name: 'Mine', expires_at: inDays(1) }))).body.data
    await admin.get(`${TOKENS}/${id}`, 404)
    await admin.delete(`${TOKENS}/${id}`, 404)
    const { data, meta } = (await ada.get(`${TOKENS}?sort=-expires_at`, 200)).body
    assert.equal(data[0].id, id)
    assert.deepEqual(meta.page, { total_count: 2, total_filtered_count: 2 })
    const { client: reader } = await callers.make({ roles: ['read_only'] })
    await reader.get(TOKENS, 403)
    await reader.post(TOKENS, 403)
  })
})

test('no secret that was shown is kept anywhere, and no log line has one', async () => {
  const answers = [
    await admin.post(OWN, 201, key({ name: 'Secret' })),
    await admin.post(API, 201, body('api_keys', { name: 'Secret' })),
    await admin.post(TOKENS, 201, token({ name: 'Secret', expires_at: inDays(1) })),
  ]
  const events = await callers.db.query.selectFrom('audit_events').selectAll().execute()
  const kept = JSON.stringify([
    events,
    await callers.db.query.selectFrom('access_tokens').selectAll().execute(),
    await callers.db.query.selectFrom('application_keys').selectAll().execute(),
    await callers.db.query.selectFrom('api_keys').selectAll().execute(),
  ])
  for (const { body } of answers) {
    assert.equal(kept.includes(body.data.attributes.key), false)
    assert.equal(server.output().includes(body.data.attributes.key), false)
  }
  const actions = new Set(events.map(({ action }) => action))
  for (const action of ['key.created', 'key.updated', 'key.revoked', 'token.created', 'token.revoked']) {
    assert.ok(actions.has(action), action)
  }
})
