import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { postgresUnavailable } from '../support/postgres.ts'
import { startBehindProxy } from '../support/start-behind-proxy.ts'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'
import { ADMIN_ROLE, managedRole } from './roles-api.ts'

const unavailable = postgresUnavailable()

test('what a request with a key made is answered to its repeat and not made twice, though storage was away before it could be told', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startServer({ engine: 'postgres' }))
  const admin = client(server)
  const { id: roleId } = await managedRole(admin, ADMIN_ROLE)
  const user = (email: string) => ({
    type: 'users',
    attributes: { email },
    relationships: { roles: { data: [{ id: roleId, type: 'roles' }] } },
  })
  const role = (name: string) => ({ type: 'roles', attributes: { name } })
  const database = new pg.Client({ connectionString: server.databaseUrl as string })
  await database.connect()
  stack.defer(() => database.end())
  // From the commit on an answer cannot be put together, because what it is read from is not there.
  await database.query(`
    create function hide() returns trigger language plpgsql as
      $$ begin execute format('alter table %I rename to elsewhere', tg_argv[0]); return null; end $$;
    create constraint trigger hide after insert on users deferrable initially deferred for each row execute function hide('user_totp');
    create constraint trigger hide after insert on roles deferrable initially deferred for each row execute function hide('role_permissions')`)
  for (const [path, data, status, read] of [
    ['users', user('made@example.org'), 201, 'user_totp'],
    ['service_accounts', user('robot@example.org'), 201, 'user_totp'],
    ['roles', role('Made'), 200, 'role_permissions'],
    [`roles/${roleId}/clone`, role('Cloned'), 200, 'role_permissions'],
  ] as const) {
    const request = { body: { data }, headers: { 'idempotency-key': 'once' } }
    await admin.post(`/api/v2/${path}`, 500, request)
    await database.query(`alter table elsewhere rename to ${read}`)
    const { body, headers } = await admin.post(`/api/v2/${path}`, status, request)
    assert.equal(headers.get('idempotent-replayed'), 'true')
    const made = await admin.get(`/api/v2/${data.type}/${body.data.id}`, 200)
    assert.deepEqual(body.data.attributes, made.body.data.attributes)
    assert.equal(headers.get('location'), data.type === 'users' ? `/api/v2/users/${body.data.id}` : null)
  }
})

test('whoever was invited is not invited once more by a repeat, though nobody was told of the first invitation', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using behind = await startBehindProxy({ COMMONPLACE_USERS__SMTP_URL: 'smtp://127.0.0.1:1' })
  const admin = client(behind.server)
  const user = { type: 'users', attributes: { email: 'ada@example.org' } }
  const { id } = (await admin.post('/api/v2/users', 201, { body: { data: user } })).body.data
  const invitation = { type: 'user_invitations', relationships: { user: { data: { type: 'users', id } } } }
  const request = { body: { data: [invitation] }, headers: { 'idempotency-key': 'once' } }
  behind.loseCommitBehind('into "user_invitations"')
  await admin.post('/api/v2/user_invitations', 503, request)
  const { body, headers } = await admin.post('/api/v2/user_invitations', 201, request)
  assert.equal(headers.get('idempotent-replayed'), 'true')
  const listed = await admin.get(`/api/v2/user_invitations?filter[user]=${id}`, 200)
  assert.deepEqual(listed.body.data, body.data)
})

test('a key or token is made once for an Idempotency-Key, though nobody was told of it, and its repeat shows no secret', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using behind = await startBehindProxy()
  const admin = client(behind.server)
  const robot = { type: 'users', attributes: { email: 'robot@example.org' } }
  const { id } = (await admin.post('/api/v2/service_accounts', 201, { body: { data: robot } })).body.data
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  for (const [path, type, table, more] of [
    ['api_keys', 'api_keys', 'api_keys', {}],
    ['current_user/application_keys', 'application_keys', 'application_keys', {}],
    [`service_accounts/${id}/application_keys`, 'application_keys', 'application_keys', {}],
    ['personal_access_tokens', 'personal_access_tokens', 'access_tokens', { expires_at }],
  ] as const) {
    const data = { type, attributes: { name: 'made once', ...more } }
    const request = { body: { data }, headers: { 'idempotency-key': 'once' } }
    behind.loseCommitBehind(`into "${table}"`)
    await admin.post(`/api/v2/${path}`, 503, request)
    const { body, headers } = await admin.post(`/api/v2/${path}`, 201, request)
    assert.equal(headers.get('idempotent-replayed'), 'true', path)
    assert.equal(body.data.attributes.key, '')
    const found = (await admin.get(`/api/v2/${path}?filter=made+once`, 200)).body.data
    assert.deepEqual(
      found.map((one: { id: string }) => one.id),
      [body.data.id],
    )
  }
})
