import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { assertFails, type Client, connect, skipped } from './datadog-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'
const DAY_MS = 86_400_000

describe('the published client, on service accounts and keys', { skip: skipped }, () => {
  let server: TestServer
  let sdk: Client
  before(async () => {
    server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
    sdk = connect(server)
  })
  after(() => server.stop())

  const newKey = (name: string, scopes?: string[]) => ({
    body: { data: { type: 'application_keys', attributes: { name, ...(scopes && { scopes }) } } },
  })
  const keyUpdate = (type: string, id: string, attributes: object) => ({ body: { data: { type, id, attributes } } })

  test('makes a service account with keys of its own that work, and takes them away', async () => {
    const attributes = { email: 'robot@example.org', name: 'Robot', serviceAccount: true }
    const roles = (await sdk.roles.listRoles({ filter: 'Platform Read Only Role' })).data
    const relationships = { roles: { data: [{ id: roles[0].id, type: 'roles' }] } }
    const body = { data: { type: 'users', attributes, relationships } }
    const { data: account } = await sdk.serviceAccounts.createServiceAccount({ body })
    assert.equal(account.attributes.serviceAccount, true)
    assert.equal(account.attributes.handle, account.id)
    assert.equal(account.attributes.status, 'Active')

    const serviceAccountId = account.id
    const minted = await sdk.serviceAccounts.createServiceAccountApplicationKey({
      serviceAccountId,
      ...newKey('robot'),
    })
    const { key, last4 } = minted.data.attributes
    assert.match(key, /^[0-9a-f]{40}$/)
    assert.ok(key.endsWith(last4))
    const robot = connect(server, { keys: { apiKey: server.apiKey, applicationKey: key } })
    assert.equal((await robot.users.getCurrentUser()).data.id, serviceAccountId)
    await assertFails(robot.keys.listApplicationKeys(), 403, 'Missing permission: org_app_keys_manage')

    const appKeyId = minted.data.id
    const one = { serviceAccountId, appKeyId }
    assert.equal((await sdk.serviceAccounts.getServiceAccountApplicationKey(one)).data.id, appKeyId)
    const listed = await sdk.serviceAccounts.listServiceAccountApplicationKeys({
      serviceAccountId,
      sort: '-created_at',
    })
    assert.deepEqual(
      listed.data.map(({ id }: { id: string }) => id),
      [appKeyId],
    )
    const renamed = await sdk.serviceAccounts.updateServiceAccountApplicationKey({
      ...one,
      ...keyUpdate('application_keys', appKeyId, { name: 'renamed', scopes: ['user_access_read'] }),
    })
    assert.deepEqual(renamed.data.attributes.scopes, ['user_access_read'])
    await sdk.serviceAccounts.deleteServiceAccountApplicationKey(one)
    await assertFails(sdk.serviceAccounts.deleteServiceAccountApplicationKey(one), 404)
    await assertFails(robot.users.getCurrentUser(), 403, 'Forbidden')
    await assertFails(sdk.serviceAccounts.listServiceAccountApplicationKeys({ serviceAccountId: NOBODY }), 404)
  })

  test("makes, narrows, lists and deletes the caller's application keys, and an administrator everybody's", async () => {
    const { data } = await sdk.keys.createCurrentUserApplicationKey(newKey('mine', ['user_access_read']))
    const appKeyId = data.id
    const narrow = connect(server, { keys: { apiKey: server.apiKey, applicationKey: data.attributes.key } })
    assert.ok((await narrow.users.listUsers()).data.length > 0)
    const user = { data: { type: 'users', attributes: { email: 'x@example.org' } } }
    await assertFails(narrow.users.createUser({ body: user }), 403, 'Missing permission: user_access_invite')
    assert.equal((await sdk.keys.getCurrentUserApplicationKey({ appKeyId })).data.attributes.name, 'mine')
    const update = keyUpdate('application_keys', appKeyId, { name: 'still mine' })
    const changed = await sdk.keys.updateCurrentUserApplicationKey({ appKeyId, ...update })
    assert.equal(changed.data.attributes.name, 'still mine')
    assert.deepEqual(changed.data.attributes.scopes, ['user_access_read'])
    for (const sort of ['name', '-name', 'created_at', '-created_at', 'last4', '-last4']) {
      const own = await sdk.keys.listCurrentUserApplicationKeys({ sort, filter: 'still', pageSize: 1 })
      assert.deepEqual(
        own.data.map(({ id }: { id: string }) => id),
        [appKeyId],
      )
      assert.equal(own.meta.page.totalFilteredCount, 1)
    }
    assert.equal((await sdk.keys.getApplicationKey({ appKeyId })).data.id, appKeyId)
    assert.ok((await sdk.keys.listApplicationKeys({ filter: 'still' })).data.length === 1)
    const again = await sdk.keys.updateApplicationKey({
      appKeyId,
      ...keyUpdate('application_keys', appKeyId, { name: 'x' }),
    })
    assert.equal(again.data.attributes.name, 'x')
    await sdk.keys.deleteApplicationKey({ appKeyId })
    await assertFails(sdk.keys.deleteCurrentUserApplicationKey({ appKeyId }), 404)
    await assertFails(sdk.keys.createCurrentUserApplicationKey(newKey('bad', ['nonsense'])), 400)
  })

  test('makes, renames, lists and deletes API keys', async () => {
    const body = { data: { type: 'api_keys', attributes: { name: 'agents' } } }
    const { data } = await sdk.keys.createAPIKey({ body })
    const apiKeyId = data.id
    assert.match(data.attributes.key, /^[0-9a-f]{32}$/)
    const other = connect(server, { keys: { apiKey: data.attributes.key, applicationKey: server.applicationKey } })
    await other.users.getCurrentUser()
    const read = (await sdk.keys.getAPIKey({ apiKeyId })).data
    assert.equal(read.attributes.key, undefined)
    assert.equal(read.relationships.createdBy.data.type, 'users')
    const renamed = await sdk.keys.updateAPIKey({ apiKeyId, ...keyUpdate('api_keys', apiKeyId, { name: 'renamed' }) })
    assert.equal(renamed.data.attributes.name, 'renamed')
    for (const sort of [
      'name',
      '-name',
      'created_at',
      '-created_at',
      'modified_at',
      '-modified_at',
      'last4',
      '-last4',
    ]) {
      assert.ok((await sdk.keys.listAPIKeys({ sort })).data.length >= 2)
    }
    await assertFails(other.keys.deleteAPIKey({ apiKeyId }), 403, 'The API key in use cannot be revoked')
    await sdk.keys.deleteAPIKey({ apiKeyId })
    await assertFails(sdk.keys.getAPIKey({ apiKeyId }), 404)
    await assertFails(other.users.getCurrentUser(), 403, 'Forbidden')
  })

  test('makes, changes, lists and revokes personal access tokens, which work as bearer tokens', async () => {
    // The client sends whole seconds.
    const expiresAt = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 30 * DAY_MS)
    const attributes = { name: 'laptop', scopes: ['user_access_read'], expiresAt }
    const body = { data: { type: 'personal_access_tokens', attributes } }
    const { data } = await sdk.keys.createPersonalAccessToken({ body })
    const tokenId = data.id
    assert.equal(data.attributes.expiresAt.getTime(), expiresAt.getTime())
    assert.ok(data.attributes.key.startsWith(`pat_${data.attributes.publicPortion}_`))
    const bearer = connect(server, { token: data.attributes.key })
    await bearer.users.listUsers()
    await assertFails(bearer.keys.listPersonalAccessTokens(), 403, 'Missing permission: user_app_keys')
    assert.equal((await sdk.keys.getPersonalAccessToken({ tokenId })).data.attributes.name, 'laptop')
    const update = keyUpdate('personal_access_tokens', tokenId, { name: 'desk' })
    assert.equal((await sdk.keys.updatePersonalAccessToken({ tokenId, ...update })).data.attributes.name, 'desk')
    const sorts = ['name', 'created_at', 'expires_at', 'last_used_at'].flatMap((field) => [field, `-${field}`])
    for (const sort of sorts) {
      assert.equal((await sdk.keys.listPersonalAccessTokens({ sort, filter: 'desk' })).data.length, 1, sort)
    }
    await sdk.keys.revokePersonalAccessToken({ tokenId })
    await assertFails(bearer.users.listUsers(), 403, 'Forbidden')
    await assertFails(sdk.keys.revokePersonalAccessToken({ tokenId }), 404)
    const past = { data: { ...body.data, attributes: { ...attributes, expiresAt: new Date(0) } } }
    await assertFails(sdk.keys.createPersonalAccessToken({ body: past }), 400)
  })
})
