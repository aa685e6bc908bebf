import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'
import { type ApiName, assertFails, connect, operationsOf, skipped } from './datadog-client.ts'

/** What the client can ask for and this server does not offer, with the reason in docs/users.md. */
const NOT_OFFERED = new Set([
  'getUserIdentityProviders',
  'updateUserIdentityProviders',
  'createServiceAccountAccessToken',
  'getServiceAccountAccessToken',
  'listServiceAccountAccessTokens',
  'revokeServiceAccountAccessToken',
  'updateServiceAccountAccessToken',
  'validate',
  'validateAPIKey',
  'searchAuditLogs',
])
const OTHER_NAMES: Record<string, string> = {
  revokePersonalAccessToken: 'DeletePersonalAccessToken',
  listAuditLogs: 'ListAuditEvents',
}

describe('the published client and the limits of the server', { skip: skipped }, () => {
  let server: TestServer
  before(async () => {
    const limits = { anonymize: { limit: 1, period: '2s' }, users_write: { limit: 1, period: '1d' } }
    server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: JSON.stringify(limits) } })
  })
  after(() => server.stop())

  test('finds every operation of its APIs that is not left out on purpose', async () => {
    const { body } = await client(server, 'none').get('/openapi.json', 200)
    const offered = new Set<string>(
      Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      ),
    )
    const apis: ApiName[] = ['UsersApi', 'RolesApi', 'ServiceAccountsApi', 'KeyManagementApi', 'AuditApi']
    const missing = apis
      .flatMap(operationsOf)
      .filter((name) => !offered.has(OTHER_NAMES[name] ?? `${name[0]?.toUpperCase()}${name.slice(1)}`))
    assert.deepEqual(missing.sort(), [...NOT_OFFERED].sort())
  })

  test('waits as long as X-RateLimit-Reset says and then goes on', async () => {
    const sdk = connect(server, { enableRetry: true, maxRetries: 3 })
    const attributes = { userIds: ['018f0000-0000-7000-8000-000000000000'] }
    const body = { data: { type: 'anonymize_users_request', attributes } }
    // On a slow machine each of a few may have a window of its own.
    while (sdk.waits.length === 0) await sdk.users.anonymizeUsers({ body })
    assert.ok(sdk.waits.every((milliseconds) => milliseconds === 1_000 || milliseconds === 2_000))
  })

  test('throws 429 with its text when it does not try again', async () => {
    const sdk = connect(server)
    const create = (email: string) => sdk.users.createUser({ body: { data: { type: 'users', attributes: { email } } } })
    await create('first@example.org')
    await assertFails(create('second@example.org'), 429, /^Rate limit exceeded, retry in \d+ seconds$/)
    assert.deepEqual(sdk.waits, [])
  })
})
