import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PATH = '/api/v2/anonymize_users'

let server: TestServer
let admin: TestClient
let callers: Callers
let made = 0
before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  admin = client(server)
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

function wish(userIds: unknown, meta?: object) {
  const data = { type: 'anonymize_users_request', attributes: { user_ids: userIds } }
  return { body: meta === undefined ? { data } : { data, meta } }
}

async function create(name: string | null = null): Promise<string> {
  const attributes = { email: `anonymize-${++made}@example.org`, name, title: 'Title' }
  return (await admin.post('/api/v2/users', 201, { body: { data: { type: 'users', attributes } } })).body.data.id
}

async function ownId(): Promise<string> {
  return (await admin.get('/api/v2/current_user', 200)).body.data.id
}

describe('AnonymizeUsers', () => {
  test('leaves an empty shell under the same id', async () => {
    const id = await create('Ada')
    const before = (await admin.get(`/api/v2/users/${id}`, 200)).body.data
    const { body } = await admin.put(PATH, 200, wish([id]))
    assert.deepEqual(Object.keys(body), ['data'])
    assert.equal(body.data.type, 'anonymize_users_response')
    assert.deepEqual(body.data.attributes, { anonymize_errors: [], anonymized_user_ids: [id] })
    const after = (await admin.get(`/api/v2/users/${id}`, 200)).body.data
    const address = `anonymized-${id}@anonymized.invalid`
    assert.deepEqual(after.attributes, {
      ...before.attributes,
      modified_at: after.attributes.modified_at,
      name: 'Anonymized User',
      email: address,
      handle: address,
      title: null,
      disabled: true,
      status: 'Disabled',
      verified: false,
    })
    assert.deepEqual(after.relationships.roles.data, [])
  })

  test('answers every distinct id once, in the order of the request, whatever becomes of it', async () => {
    const [a, b] = [await create(), await create()]
    const unknown = newId()
    const own = await ownId()
    const { body } = await admin.put(PATH, 200, wish([b.toUpperCase(), unknown, a, own, b, a]))
    assert.deepEqual(body.data.attributes, {
      anonymize_errors: [
        { error: 'User not found', user_id: unknown },
        { error: 'You cannot anonymize your own account', user_id: own },
      ],
      anonymized_user_ids: [b, a],
    })
  })

  test('counts somebody who is anonymized already as anonymized again, with another id of the call', async () => {
    const id = await create()
    const first = (await admin.put(PATH, 200, wish([id]))).body.data
    const user = (await admin.get(`/api/v2/users/${id}`, 200)).body
    const second = (await admin.put(PATH, 200, wish([id]))).body.data
    assert.deepEqual(second.attributes, first.attributes)
    assert.notEqual(second.id, first.id)
    assert.deepEqual((await admin.get(`/api/v2/users/${id}`, 200)).body, user)
    const events = await admin.get(`/api/v2/audit/events?filter[target]=${id}&filter[action]=user.anonymized`, 200)
    assert.equal(events.body.data.length, 1)
  })

  test('says who, whom and when in the audit log, with the id of the call and nothing else', async () => {
    const id = await create('Ada')
    const call = (await admin.put(PATH, 200, wish([id]))).body.data.id
    const filter = `filter[target]=${id}&filter[action]=user.anonymized`
    const [event] = (await admin.get(`/api/v2/audit/events?${filter}`, 200)).body.data
    const { actor, target, changes, ...rest } = event.attributes
    assert.equal(actor.user_id, await ownId())
    assert.deepEqual(target, { type: 'users', id })
    assert.deepEqual(changes, { anonymization: { new: call } })
    assert.deepEqual([rest.client_address, rest.user_agent, rest.request_id], [null, null, null])
  })

  test('changes nothing in a dry run, and answers as the real one would', async () => {
    const lonely = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
    const others = await openCallers(lonely)
    try {
      const root = client(lonely)
      const manager = await others.make({ permissions: ['admin'] })
      const [first, second] = [await others.make({ roles: ['admin'] }), await others.make({ roles: ['standard'] })]
      const original = (await root.get('/api/v2/current_user', 200)).body.data.id
      const ids = [first.userId, newId(), manager.userId, original, second.userId]
      const dry = (await manager.client.put(PATH, 200, wish(ids, { dry_run: true }))).body
      assert.deepEqual(dry.meta, { dry_run: true })
      assert.equal((await root.get(`/api/v2/users/${first.userId}`, 200)).body.data.attributes.status, 'Active')
      await second.client.get('/api/v2/current_user', 200)
      const real = (await manager.client.put(PATH, 200, wish(ids, { dry_run: false }))).body
      assert.equal(real.meta, undefined)
      assert.deepEqual(real.data.attributes, dry.data.attributes)
      assert.deepEqual(real.data.attributes, {
        anonymize_errors: [
          { error: 'User not found', user_id: ids[1] },
          { error: 'You cannot anonymize your own account', user_id: manager.userId },
          { error: 'The last administrator cannot be anonymized', user_id: original },
        ],
        anonymized_user_ids: [first.userId, second.userId],
      })
      await second.client.get('/api/v2/current_user', 403)
      await first.client.get('/api/v2/current_user', 403)
    } finally {
      await others[Symbol.asyncDispose]()
      await lonely.stop()
    }
  })

  test('is for ever: not enabled, updated, invited, disabled or given a role again, and the address is free', async () => {
    const id = await create('Ada')
    const email = (await admin.get(`/api/v2/users/${id}`, 200)).body.data.attributes.email
    await admin.put(PATH, 200, wish([id]))
    for (const attributes of [{ disabled: false }, { name: 'Ada' }, { email: 'new@example.org' }]) {
      const { body } = await admin.patch(`/api/v2/users/${id}`, 400, {
        body: { data: { type: 'users', id, attributes } },
      })
      assert.deepEqual(body.errors, [`User ${id} has been anonymized`])
    }
    await admin.delete(`/api/v2/users/${id}`, 404)
    const data = [{ type: 'user_invitations', relationships: { user: { data: { type: 'users', id } } } }]
    await admin.post('/api/v2/user_invitations', 400, { body: { data } })
    const role = (await admin.get('/api/v2/roles', 200)).body.data[0].id
    await admin.post(`/api/v2/roles/${role}/users`, 400, { body: { data: { type: 'users', id } } })
    const again = { body: { data: { type: 'users', attributes: { email } } } }
    assert.notEqual((await admin.post('/api/v2/users', 201, again)).body.data.id, id)
  })

  test('keeps counts and lists right', async () => {
    const id = await create('Zzz counted')
    const role = (
      await admin.post('/api/v2/roles', 200, { body: { data: { type: 'roles', attributes: { name: 'Counted' } } } })
    ).body.data.id
    await admin.post(`/api/v2/roles/${role}/users`, 200, { body: { data: { type: 'users', id } } })
    const totals = async (filter: string) => (await admin.get(`/api/v2/users?${filter}`, 200)).body.meta.page
    const [all, disabled] = [await totals(''), await totals('filter[status]=Disabled')]
    await admin.put(PATH, 200, wish([id]))
    assert.deepEqual(await totals(''), all)
    assert.equal((await totals('filter[status]=Disabled')).total_filtered_count, disabled.total_filtered_count + 1)
    assert.equal((await totals('filter=zzz counted')).total_filtered_count, 0)
    assert.equal((await admin.get(`/api/v2/roles/${role}`, 200)).body.data.attributes.user_count, 0)
    assert.deepEqual(
      (await admin.get(`/api/v2/users?filter=${id}`, 200)).body.data.map((one: { id: string }) => one.id),
      [id],
    )
  })

  test('refuses a bad body with every problem, and touches nobody', async () => {
    const id = await create('Ada')
    const refused = async (body: unknown, ...errors: string[]) =>
      assert.deepEqual((await admin.put(PATH, 400, { body })).body, { errors })
    const list = (userIds: unknown) => wish(userIds).body
    await refused({}, 'data is required')
    await refused({ data: { type: 'anonymize_users_request' } }, 'data.attributes is required')
    await refused({ data: { type: 'anonymize_users_request', attributes: {} } }, 'data.attributes.user_ids is required')
    await refused(list([]), 'data.attributes.user_ids must not be empty')
    await refused(list(id), 'data.attributes.user_ids must be an array')
    await refused(list(Array.from({ length: 101 }, () => id)), 'data.attributes.user_ids must have at most 100 items')
    await refused(
      { data: { type: 'users', attributes: { user_ids: [id, 'x', 7, null] } } },
      'data.type must be "anonymize_users_request"',
      'data.attributes.user_ids[1] is not a valid UUID',
      'data.attributes.user_ids[2] must be a string',
      'data.attributes.user_ids[3] must be a string',
    )
    await refused({ ...list([id]), meta: { dry_run: 'yes' } }, 'meta.dry_run must be true or false')
    assert.equal((await admin.get(`/api/v2/users/${id}`, 200)).body.data.attributes.name, 'Ada')
  })

  test('needs user_access_manage', async () => {
    const id = await create()
    const caller = await callers.make({ roles: ['standard'] })
    const { body } = await caller.client.put(PATH, 403, wish([id]))
    assert.deepEqual(body, { errors: ['Missing permission: user_access_manage'] })
    await caller.client.put(PATH, 403, wish([id], { dry_run: true }))
    await admin.as('none').put(PATH, 401, wish([id]))
  })

  test('has a bucket of its own', async () => {
    const limited = await startServer({ mode: 'serve' })
    try {
      const caller = client(limited)
      const { headers } = await caller.put(PATH, 200, wish([newId()]))
      assert.equal(headers.get('x-ratelimit-name'), 'anonymize')
      assert.equal(headers.get('x-ratelimit-limit'), '10')
      for (let n = 1; n < 10; n++) await caller.put(PATH, 200, wish([newId()]))
      const { body, headers: last } = await caller.put(PATH, 429, wish([newId()]))
      assert.match(body.errors[0], /^Rate limit exceeded, retry in \d+ seconds$/)
      assert.equal(last.get('retry-after'), last.get('x-ratelimit-reset'))
    } finally {
      await limited.stop()
    }
  })
})

describe('the personal-data export', () => {
  test('tells a person everything that is kept about it, and no secret', async () => {
    const person = await callers.make({ email: 'export@example.org', name: 'Ada Export', roles: ['standard'] })
    const key = { body: { data: { type: 'application_keys', attributes: { name: 'laptop' } } } }
    const secret = (await person.client.post('/api/v2/current_user/application_keys', 201, key)).body.data.attributes
      .key
    const answer = await person.client.get(`/api/v2/users/${person.userId}/export`, 200)
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="personal-data-/)
    const { type, id, attributes } = answer.body.data
    assert.deepEqual([type, id], ['personal_data', person.userId])
    assert.equal(attributes.profile.name, 'Ada Export')
    assert.deepEqual(
      attributes.roles.map((role: { name: string }) => role.name),
      ['Platform Standard Role'],
    )
    assert.equal(attributes.application_keys[0].name, 'laptop')
    assert.equal(attributes.personal_access_tokens.length, 1)
    const actions = attributes.audit_events.map((one: { attributes: { action: string } }) => one.attributes.action)
    assert.ok(actions.includes('key.created') && actions.includes('user.created'))
    for (const hidden of [secret, person.token, 'hash']) assert.equal(answer.text.includes(hidden), false)
  })

  test('tells that the person changed somebody else, and not what that one was called', async () => {
    const [manager, other] = [
      await callers.make({ roles: ['admin'], email: 'manager-export@example.org' }),
      await callers.make({ email: 'private-before@example.org' }),
    ]
    const change = (id: string, email: string) => ({ body: { data: { type: 'users', id, attributes: { email } } } })
    await manager.client.patch(`/api/v2/users/${other.userId}`, 200, change(other.userId, 'private-after@example.org'))
    await manager.client.patch('/api/v2/current_user', 200, change(manager.userId, 'manager-moved@example.org'))
    const { text, body } = await manager.client.get(`/api/v2/users/${manager.userId}/export`, 200)
    assert.doesNotMatch(text, /private-/)
    const events = body.data.attributes.audit_events.filter(
      (one: { attributes: { action: string } }) => one.attributes.action === 'user.email_changed',
    )
    assert.deepEqual(
      events.map((one: { attributes: { target: { id: string }; changes: { email?: object } } }) => [
        one.attributes.target.id,
        one.attributes.changes.email,
      ]),
      [
        [manager.userId, { old: 'manager-export@example.org', new: 'manager-moved@example.org' }],
        [other.userId, undefined],
      ],
    )
    const theirs = await other.client.get(`/api/v2/users/${other.userId}/export`, 200)
    assert.match(theirs.text, /private-before/)
  })

  test('is for the person and for whoever manages users', async () => {
    const [person, other] = [await callers.make({}), await callers.make({ roles: ['standard'] })]
    await person.client.get(`/api/v2/users/${person.userId}/export`, 200)
    await admin.get(`/api/v2/users/${person.userId.toUpperCase()}/export`, 200)
    const { body } = await other.client.get(`/api/v2/users/${person.userId}/export`, 403)
    assert.deepEqual(body, { errors: ['Missing permission: user_access_manage'] })
    const unknown = newId()
    assert.deepEqual((await admin.get(`/api/v2/users/${unknown}/export`, 404)).body, {
      errors: [`User ${unknown} not found`],
    })
    await admin.get('/api/v2/users/nobody/export', 404)
  })

  test('has nothing left to tell about somebody who is anonymized', async () => {
    const person = await callers.make({ email: 'forgotten@example.org', name: 'Nobody Knows' })
    await person.client.get('/api/v2/current_user', 200)
    await admin.put(PATH, 200, wish([person.userId]))
    const { text } = await admin.get(`/api/v2/users/${person.userId}/export`, 200)
    for (const old of ['forgotten', 'Nobody Knows', '127.0.0.1']) assert.equal(text.includes(old), false, old)
  })
})
