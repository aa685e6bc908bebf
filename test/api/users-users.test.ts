import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { client } from '../support/test-client.ts'
import { USERS, UsersApi } from '../support/users-api.ts'

let api: UsersApi
before(async () => {
  api = await UsersApi.start()
})
after(() => api[Symbol.asyncDispose]())

describe('creating a user', () => {
  test('answers a document with everything it refers to, and where it is', async () => {
    const standard = await api.roleIdOf('Platform Standard Role')
    const body = api.newBody({ email: ' Ada@Example.org ', name: ' Ada ', title: '' }, [standard, standard])
    const answer = await api.admin.post(USERS, 201, { body })
    const { data, included } = answer.body
    assert.equal(answer.headers.get('location'), `${USERS}/${data.id}`)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.match(answer.headers.get('etag') ?? '', /^W\/"/)
    const { created_at, modified_at, icon, ...rest } = data.attributes
    assert.deepEqual(rest, {
      email: 'ada@example.org',
      handle: 'ada@example.org',
      name: 'Ada',
      title: null,
      disabled: false,
      status: 'Pending',
      verified: false,
      service_account: false,
      last_login_time: null,
      mfa_enabled: false,
      allowed_login_methods: [],
    })
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(modified_at, created_at)
    assert.equal(icon.endsWith(`${USERS}/${data.id}/icon`), true)
    const [organization, role, ...permissions] = included
    assert.deepEqual(data.relationships, {
      org: { data: { id: organization.id, type: 'orgs' } },
      roles: { data: [{ id: standard, type: 'roles' }] },
      other_orgs: { data: [] },
      other_users: { data: [] },
    })
    assert.equal(role.attributes.name, 'Platform Standard Role')
    assert.equal(role.attributes.user_count >= 1, true)
    const names = permissions.map((permission: { attributes: { name: string } }) => permission.attributes.name)
    assert.deepEqual(names, [...new Set(names)].sort())
    assert.deepEqual(
      role.relationships.permissions.data,
      permissions.map(({ id, type }: { id: string; type: string }) => ({ id, type })),
    )
    assert.deepEqual(await api.auditActions(data.id), ['user.created'])
    const read = await api.admin.get(`${USERS}/${data.id.toUpperCase()}`, 200)
    assert.deepEqual(read.body, answer.body)
  })

  test('takes an address once, whatever its case and whatever became of its user', async () => {
    const { id, attributes } = await api.create()
    const again = { body: api.newBody({ email: String(attributes.email).toUpperCase() }) }
    const taken = { errors: [`A user with email ${attributes.email} already exists`] }
    assert.deepEqual((await api.admin.post(USERS, 409, again)).body, taken)
    await api.admin.delete(`${USERS}/${id}`, 204)
    assert.deepEqual((await api.admin.post(USERS, 409, again)).body, taken)
  })

  test('lets one of many through who ask for the same address at once', async () => {
    const body = JSON.stringify(api.newBody())
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${api.server.adminToken}` }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fetch(new URL(USERS, api.server.url), { method: 'POST', headers, body })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...new Array<number>(11).fill(409)])
  })

  test('reports every problem of a body at once and creates nothing', async () => {
    const before = (await api.admin.get(USERS, 200)).body.meta.page.total_count
    const wrong = {
      data: {
        type: 'roles',
        attributes: { email: 'nobody', name: 5, title: 'x'.repeat(256) },
        relationships: { roles: { data: [{ id: 7, type: 'users' }, { type: 'roles' }] } },
      },
    }
    const { errors } = (await api.admin.post(USERS, 400, { body: wrong })).body
    assert.deepEqual(errors.toSorted(), [
      'data.attributes.email is not a valid email address',
      'data.attributes.name must be a string or null',
      'data.attributes.title must have at most 255 characters',
      'data.relationships.roles.data[0].id must be a string',
      'data.relationships.roles.data[0].type must be "roles"',
      'data.relationships.roles.data[1].id is required',
      'data.type must be "users"',
    ])
    const unknown = [newId(), newId(), 'x'.repeat(300)]
    const refused = (await api.admin.post(USERS, 400, { body: api.newBody({}, unknown) })).body.errors
    assert.deepEqual(refused, [
      `Role ${unknown[0]} not found`,
      `Role ${unknown[1]} not found`,
      `Role ${'x'.repeat(100)}… not found`,
    ])
    for (const body of [{}, { data: [] }, { data: { type: 'users' } }, [], '"text"', '{', 'null']) {
      const answer = await api.admin.post(USERS, 400, { body, headers: { 'content-type': 'application/json' } })
      assert.equal(answer.body.errors.length > 0, true)
    }
    assert.equal((await api.admin.get(USERS, 200)).body.meta.page.total_count, before)
  })

  test('refuses addresses and names that cannot be shown or stored', async () => {
    const emails = ['', 'a', '@b.c', 'a@', 'a@@b', 'a b@example.org', 'a\u0000@example.org', 'a\u202e@example.org']
    emails.push(`${'x'.repeat(65)}@example.org`, `${'x'.repeat(65_536)}@example.org`, `a@${'b'.repeat(255)}`)
    for (const email of emails) {
      const { errors } = (await api.admin.post(USERS, 400, { body: api.newBody({ email }) })).body
      assert.deepEqual(errors, ['data.attributes.email is not a valid email address'])
    }
    for (const name of ['a\u0000b', 'a\u001fb', 'a\ud800']) {
      const { errors } = (await api.admin.post(USERS, 400, { body: api.newBody({ name }) })).body
      assert.deepEqual(errors, ['data.attributes.name must not hold control characters'])
    }
    const kept = await api.create({ email: `аdа-homograph@exämple.org`, name: `  ${'名'.repeat(255)}  ` })
    assert.equal(kept.attributes.name, '名'.repeat(255))
    assert.match(String(kept.attributes.email), /^аdа-/)
  })

  test('ignores what a caller cannot set', async () => {
    const { attributes } = await api.create({
      status: 'Active',
      verified: true,
      disabled: true,
      service_account: true,
      handle: 'root',
      created_at: 'yesterday',
      mfa_enabled: 'yes',
      unknown: { deep: [1] },
    })
    assert.deepEqual(
      [attributes.status, attributes.verified, attributes.disabled, attributes.service_account, attributes.handle],
      ['Pending', false, false, false, attributes.email],
    )
  })

  test('needs the right to invite, and gives no role that holds more than the caller', async () => {
    const reader = await api.callers.make({ roles: ['read_only'] })
    const forbidden = (await reader.client.post(USERS, 403, { body: 'not even JSON' })).body
    assert.deepEqual(forbidden, { errors: ['Missing permission: user_access_invite'] })
    const inviter = await api.callers.make({ permissions: ['user_access_invite'] })
    const role = await api.roleIdOf('Platform Admin Role')
    const { errors } = (await inviter.client.post(USERS, 403, { body: api.newBody({}, [role]) })).body
    assert.match(errors[0], /^You cannot grant a permission you do not have: /)
    await inviter.client.post(USERS, 201, { body: api.newBody() })
    await api.admin.as('none').post(USERS, 415, { body: 'x', headers: { 'content-type': 'text/plain' } })
  })

  test('answers in the type of JSON:API to whoever asks for nothing else', async () => {
    const headers = { accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' }
    const answer = await api.admin.post(USERS, 201, { body: JSON.stringify(api.newBody()), headers })
    assert.equal(answer.headers.get('content-type'), 'application/vnd.api+json')
    const both = { accept: 'application/vnd.api+json, application/json' }
    assert.match(
      (await api.admin.get(USERS, 200, { headers: both })).headers.get('content-type') ?? '',
      /^application\/json/,
    )
  })

  test('refuses in the same type as it answers, also where no operation is', async () => {
    const headers = { accept: 'application/vnd.api+json' }
    const refusals = [
      await api.admin.get(`${USERS}/nobody`, 404, { headers }),
      await api.admin.get(`${USERS}?page[size]=0`, 400, { headers }),
      await api.admin.as({ token: 'wrong' }).get(USERS, 403, { headers }),
      await api.admin.get('/api/v2/nothing', 404, { headers }),
      await api.admin.put(USERS, 405, { headers }),
    ]
    for (const refusal of refusals) {
      assert.equal(refusal.headers.get('content-type'), 'application/vnd.api+json')
      assert.equal(refusal.body.errors.length, 1)
    }
  })
})

describe('reading a user', () => {
  test('is allowed to readers and to the user itself', async () => {
    const { id } = await api.create()
    const nobody = await api.callers.make({})
    for (const path of ['', '/orgs', '/permissions']) {
      await nobody.client.get(`${USERS}/${nobody.userId}${path}`, 200)
      const refused = await nobody.client.get(`${USERS}/${id}${path}`, 403)
      assert.deepEqual(refused.body, { errors: ['Missing permission: user_access_read'] })
      await nobody.client.get(`${USERS}/${newId()}${path}`, 403)
      const unknown = newId()
      const missing = await api.admin.get(`${USERS}/${unknown}${path}`, 404)
      assert.deepEqual(missing.body, { errors: [`User ${unknown} not found`] })
      assert.deepEqual((await api.admin.get(`${USERS}/none${path}`, 404)).body, { errors: ['User none not found'] })
    }
  })

  test('shows the organization and the permissions of all roles together', async () => {
    const [readOnly, standard] = [
      await api.roleIdOf('Platform Read Only Role'),
      await api.roleIdOf('Platform Standard Role'),
    ]
    const { id } = await api.create({}, [standard, readOnly])
    const organizations = (await api.admin.get(`${USERS}/${id}/orgs`, 200)).body
    assert.deepEqual(
      organizations.included.map(({ type }: { type: string }) => type).filter((type: string) => type === 'orgs'),
      ['orgs'],
    )
    assert.equal(organizations.data.id, id)
    assert.deepEqual(
      organizations.data.relationships.roles.data.map((role: { id: string }) => role.id),
      [readOnly, standard],
    )
    const { data } = (await api.admin.get(`${USERS}/${id}/permissions`, 200)).body
    const names = data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)
    assert.deepEqual(names, [...new Set(names)].sort())
    assert.equal(names.includes('user_access_invite'), true)
    await api.admin.delete(`${USERS}/${id}`, 204)
    assert.equal((await api.admin.get(`${USERS}/${id}/permissions`, 200)).body.data.length, names.length)
    const bare = await api.create()
    assert.deepEqual((await api.admin.get(`${USERS}/${bare.id}/permissions`, 200)).body, { data: [] })
  })

  test('the current user is the owner of the credentials', async () => {
    const nobody = await api.callers.make({})
    const { body, headers } = await nobody.client.get('/api/v2/current_user', 200)
    assert.equal(body.data.id, nobody.userId)
    assert.deepEqual(
      body.included.map(({ type }: { type: string }) => type),
      ['orgs'],
    )
    assert.match(headers.get('etag') ?? '', /^W\/"/)
    const pair = { apiKey: api.server.apiKey, applicationKey: api.server.applicationKey }
    assert.equal((await api.admin.as(pair).get('/api/v2/current_user', 200)).body.data.attributes.status, 'Active')
  })
})

describe('icons', () => {
  test('need no credentials, are cached, and exist for ids that nobody has', async () => {
    const { id } = await api.create()
    const anybody = client(api.server, { headers: { 'x-forwarded-for': '192.0.2.1' } })
    const icon = await anybody.get(`${USERS}/${id}/icon`, 200)
    const other = await anybody.get(`${USERS}/${newId()}/icon`, 200)
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml')
    assert.match(icon.headers.get('cache-control') ?? '', /public, max-age=\d+/)
    assert.equal(icon.text === (await anybody.get(`${USERS}/${id}/icon`, 200)).text, true)
    assert.notEqual(icon.text, other.text)
    const shape = ({ headers }: typeof icon) =>
      [...headers]
        .map(([name]) => name)
        .filter((name) => name !== 'date')
        .sort()
    assert.deepEqual(shape(icon), shape(other))
    await anybody.get(`${USERS}/${id}/icon`, 304, { headers: { 'if-none-match': icon.headers.get('etag') ?? '' } })
  })
})
