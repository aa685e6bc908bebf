import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const USERS = '/api/v2/users'

let server: TestServer
let admin: TestClient
let callers: Callers
before(async () => {
  server = await startServer()
  admin = client(server)
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

let made = 0

function newBody(attributes: Record<string, unknown> = {}, roleIds?: readonly string[]) {
  const roles = roleIds && { roles: { data: roleIds.map((id) => ({ id, type: 'roles' })) } }
  return {
    data: { type: 'users', attributes: { email: `user-${++made}@example.org`, ...attributes }, relationships: roles },
  }
}

async function create(attributes: Record<string, unknown> = {}, roleIds?: readonly string[]) {
  const { body } = await admin.post(USERS, 201, { body: newBody(attributes, roleIds) })
  return body.data as {
    id: string
    attributes: Record<string, unknown>
    relationships: Record<string, { data: unknown }>
  }
}

function patchBody(id: string, attributes: Record<string, unknown>) {
  return { body: { data: { type: 'users', id, attributes } } }
}

async function roleIdOf(name: string): Promise<string> {
  const { body } = await admin.get(`/api/v2/roles?filter=${encodeURIComponent(name)}`, 200)
  return body.data[0].id
}

async function auditActions(target: string): Promise<string[]> {
  const rows = await callers.db.query
    .selectFrom('audit_events')
    .select('action')
    .where('target_id', '=', target)
    .orderBy('position')
    .execute()
  return rows.map((row) => row.action)
}

describe('creating a user', () => {
  test('answers a document with everything it refers to, and where it is', async () => {
    const standard = await roleIdOf('Platform Standard Role')
    const body = newBody({ email: ' Ada@Example.org ', name: ' Ada ', title: '' }, [standard, standard])
    const answer = await admin.post(USERS, 201, { body })
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
    assert.deepEqual(await auditActions(data.id), ['user.created'])
    const read = await admin.get(`${USERS}/${data.id.toUpperCase()}`, 200)
    assert.deepEqual(read.body, answer.body)
  })

  test('takes an address once, whatever its case and whatever became of its user', async () => {
    const { id, attributes } = await create()
    const again = { body: newBody({ email: String(attributes.email).toUpperCase() }) }
    const taken = { errors: [`A user with email ${attributes.email} already exists`] }
    assert.deepEqual((await admin.post(USERS, 409, again)).body, taken)
    await admin.delete(`${USERS}/${id}`, 204)
    assert.deepEqual((await admin.post(USERS, 409, again)).body, taken)
  })

  test('lets one of many through who ask for the same address at once', async () => {
    const body = JSON.stringify(newBody())
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${server.adminToken}` }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => fetch(new URL(USERS, server.url), { method: 'POST', headers, body })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...new Array<number>(11).fill(409)])
  })

  test('reports every problem of a body at once and creates nothing', async () => {
    const before = (await admin.get(USERS, 200)).body.meta.page.total_count
    const wrong = {
      data: {
        type: 'roles',
        attributes: { email: 'nobody', name: 5, title: 'x'.repeat(256) },
        relationships: { roles: { data: [{ id: 7, type: 'users' }, { type: 'roles' }] } },
      },
    }
    const { errors } = (await admin.post(USERS, 400, { body: wrong })).body
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
    const refused = (await admin.post(USERS, 400, { body: newBody({}, unknown) })).body.errors
    assert.deepEqual(refused, [
      `Role ${unknown[0]} not found`,
      `Role ${unknown[1]} not found`,
      `Role ${'x'.repeat(100)}… not found`,
    ])
    for (const body of [{}, { data: [] }, { data: { type: 'users' } }, [], '"text"', '{', 'null']) {
      const answer = await admin.post(USERS, 400, { body, headers: { 'content-type': 'application/json' } })
      assert.equal(answer.body.errors.length > 0, true)
    }
    assert.equal((await admin.get(USERS, 200)).body.meta.page.total_count, before)
  })

  test('refuses addresses and names that cannot be shown or stored', async () => {
    const emails = ['', 'a', '@b.c', 'a@', 'a@@b', 'a b@example.org', 'a\u0000@example.org', 'a\u202e@example.org']
    emails.push(`${'x'.repeat(65)}@example.org`, `${'x'.repeat(65_536)}@example.org`, `a@${'b'.repeat(255)}`)
    for (const email of emails) {
      const { errors } = (await admin.post(USERS, 400, { body: newBody({ email }) })).body
      assert.deepEqual(errors, ['data.attributes.email is not a valid email address'])
    }
    for (const name of ['a\u0000b', 'a\u001fb', 'a\ud800']) {
      const { errors } = (await admin.post(USERS, 400, { body: newBody({ name }) })).body
      assert.deepEqual(errors, ['data.attributes.name must not hold control characters'])
    }
    const kept = await create({ email: `аdа-${++made}@exämple.org`, name: `  ${'名'.repeat(255)}  ` })
    assert.equal(kept.attributes.name, '名'.repeat(255))
    assert.match(String(kept.attributes.email), /^аdа-/)
  })

  test('ignores what a caller cannot set', async () => {
    const { attributes } = await create({
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
    const reader = await callers.make({ roles: ['read_only'] })
    const forbidden = (await reader.client.post(USERS, 403, { body: 'not even JSON' })).body
    assert.deepEqual(forbidden, { errors: ['Missing permission: user_access_invite'] })
    const inviter = await callers.make({ permissions: ['user_access_invite'] })
    const role = await roleIdOf('Platform Admin Role')
    const { errors } = (await inviter.client.post(USERS, 403, { body: newBody({}, [role]) })).body
    assert.match(errors[0], /^You cannot grant a permission you do not have: /)
    await inviter.client.post(USERS, 201, { body: newBody() })
    await admin.as('none').post(USERS, 415, { body: 'x', headers: { 'content-type': 'text/plain' } })
  })

  test('answers in the type of JSON:API to whoever asks for nothing else', async () => {
    const headers = { accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' }
    const answer = await admin.post(USERS, 201, { body: JSON.stringify(newBody()), headers })
    assert.equal(answer.headers.get('content-type'), 'application/vnd.api+json')
    const both = { accept: 'application/vnd.api+json, application/json' }
    assert.match(
      (await admin.get(USERS, 200, { headers: both })).headers.get('content-type') ?? '',
      /^application\/json/,
    )
  })
})

describe('reading a user', () => {
  test('is allowed to readers and to the user itself', async () => {
    const { id } = await create()
    const nobody = await callers.make({})
    for (const path of ['', '/orgs', '/permissions']) {
      await nobody.client.get(`${USERS}/${nobody.userId}${path}`, 200)
      const refused = await nobody.client.get(`${USERS}/${id}${path}`, 403)
      assert.deepEqual(refused.body, { errors: ['Missing permission: user_access_read'] })
      await nobody.client.get(`${USERS}/${newId()}${path}`, 403)
      const unknown = newId()
      const missing = await admin.get(`${USERS}/${unknown}${path}`, 404)
      assert.deepEqual(missing.body, { errors: [`User ${unknown} not found`] })
      assert.deepEqual((await admin.get(`${USERS}/none${path}`, 404)).body, { errors: ['User none not found'] })
    }
  })

  test('shows the organization and the permissions of all roles together', async () => {
    const [readOnly, standard] = [await roleIdOf('Platform Read Only Role'), await roleIdOf('Platform Standard Role')]
    const { id } = await create({}, [standard, readOnly])
    const organizations = (await admin.get(`${USERS}/${id}/orgs`, 200)).body
    assert.deepEqual(
      organizations.included.map(({ type }: { type: string }) => type).filter((type: string) => type === 'orgs'),
      ['orgs'],
    )
    assert.equal(organizations.data.id, id)
    assert.deepEqual(
      organizations.data.relationships.roles.data.map((role: { id: string }) => role.id),
      [readOnly, standard],
    )
    const { data } = (await admin.get(`${USERS}/${id}/permissions`, 200)).body
    const names = data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)
    assert.deepEqual(names, [...new Set(names)].sort())
    assert.equal(names.includes('user_access_invite'), true)
    await admin.delete(`${USERS}/${id}`, 204)
    assert.equal((await admin.get(`${USERS}/${id}/permissions`, 200)).body.data.length, names.length)
    const bare = await create()
    assert.deepEqual((await admin.get(`${USERS}/${bare.id}/permissions`, 200)).body, { data: [] })
  })

  test('the current user is the owner of the credentials', async () => {
    const nobody = await callers.make({})
    const { body, headers } = await nobody.client.get('/api/v2/current_user', 200)
    assert.equal(body.data.id, nobody.userId)
    assert.deepEqual(
      body.included.map(({ type }: { type: string }) => type),
      ['orgs'],
    )
    assert.match(headers.get('etag') ?? '', /^W\/"/)
    const pair = { apiKey: server.apiKey, applicationKey: server.applicationKey }
    assert.equal((await admin.as(pair).get('/api/v2/current_user', 200)).body.data.attributes.status, 'Active')
  })
})

describe('icons', () => {
  test('need no credentials, are cached, and exist for ids that nobody has', async () => {
    const { id } = await create()
    const anybody = client(server, { headers: { 'x-forwarded-for': '192.0.2.1' } })
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

describe('listing users', () => {
  const list = (query: string, status = 200) => admin.get(`${USERS}?${query}`, status)
  const emailsOf = (body: { data: { attributes: { email: string } }[] }) =>
    body.data.map(({ attributes }) => attributes.email)

  test('pages from 0, ten at a time, to an empty page behind the last', async () => {
    for (let n = 0; n < 12; n++) await create({ name: `paged ${String(n).padStart(2, '0')}` })
    const first = (await list('filter=PAGED')).body
    assert.deepEqual(first.meta.page.total_filtered_count, 12)
    assert.equal(first.meta.page.total_count > 12, true)
    assert.equal(first.data.length, 10)
    const second = (await list('filter=paged&page%5Bnumber%5D=1')).body
    assert.deepEqual(
      [...first.data, ...second.data].map(({ attributes }) => attributes.name),
      Array.from({ length: 12 }, (_, n) => `paged ${String(n).padStart(2, '0')}`),
    )
    assert.deepEqual((await list('filter=paged&page[number]=2')).body.data, [])
    assert.deepEqual((await list('page[number]=999999999999999&page[size]=100')).body.data, [])
    assert.equal((await list('page[size]=5&filter=paged')).body.data.length, 5)
  })

  test('a minus turns the order round, and sort_dir does where there is none', async () => {
    const emails = ['a', 'b', 'c'].map((letter) => `${letter}-sorted@example.org`)
    for (const email of emails) await create({ email })
    const down = emails.toReversed()
    for (const [query, expected] of [
      ['sort=email', emails],
      ['sort=-email', down],
      ['sort=-email&sort_dir=asc', down],
      ['sort=email&sort_dir=desc', down],
      ['sort=created_at', emails],
      ['sort=user_count&sort_dir=desc', down],
    ] as const) {
      assert.deepEqual(emailsOf((await list(`filter=-sorted@&${query}`)).body), expected, query)
    }
  })

  test('filters by status, kind and role, all at once', async () => {
    const role = await roleIdOf('Platform Read Only Role')
    const name = 'filtered person'
    const pending = await create({ name }, [role])
    const disabled = await create({ name }, [role])
    await admin.delete(`${USERS}/${disabled.id}`, 204)
    await create({ name })
    const count = async (query: string) =>
      (await list(`filter=filtered+person&${query}`)).body.meta.page.total_filtered_count
    assert.equal(await count(''), 3)
    assert.equal(await count('filter[status]=%20pending%20,ACTIVE'), 2)
    assert.equal(await count('filter[status]=disabled'), 1)
    assert.equal(await count('filter[status]='), 3)
    assert.equal(await count('filter[service_account]=false'), 3)
    assert.equal(await count('filter[service_account]=true'), 0)
    assert.equal(await count(`filter[role]=${role}`), 2)
    assert.equal(await count(`filter[role]=${role},${newId()}&filter[status]=Pending`), 1)
    assert.equal(await count(`filter[role]=${newId()}`), 0)
    assert.equal(await count('filter[role]=none'), 0)
    const found = (await list(`filter=filtered+person&filter[role]=${role}&sort=status`)).body
    assert.deepEqual(
      found.data.map(({ id }: { id: string }) => id),
      [disabled.id, pending.id],
    )
    const kinds = (found.included as { type: string }[]).map(({ type }) => type)
    assert.deepEqual(kinds.slice(0, 2), ['orgs', 'roles'])
    assert.deepEqual(new Set(kinds.slice(2)), new Set(['permissions']))
  })

  test('takes every character of a filter as it is', async () => {
    await create({ name: '100%_*?[x]"y' })
    for (const text of ['100%', '%_*', '*?[x]', ']"y', '0%_']) {
      const { body } = await list(`filter=${encodeURIComponent(text)}`)
      assert.equal(body.meta.page.total_filtered_count, 1, text)
    }
    for (const text of ['1%0', '_00%', '10?%', '[1]00', '\u0000', '\u001f', 'x'.repeat(3_000)]) {
      const { body } = await list(`filter=${encodeURIComponent(text)}`)
      assert.equal(body.meta.page.total_filtered_count, 0, text)
    }
  })

  test('reports every bad parameter at once', async () => {
    const query =
      'page[size]=101&page[number]=-1&sort=age&sort_dir=up&filter[status]=Active,Gone&filter[service_account]=1'
    const { errors } = (await list(query, 400)).body
    assert.equal(errors.length, 6)
    assert.equal(errors.includes('page[size] must be an integer from 1 to 100'), true)
    for (const size of ['0', '1.5', '1e1', '', 'x']) await list(`page[size]=${size}`, 400)
    await list(`filter[role]=${Array.from({ length: 51 }, () => newId()).join()}`, 400)
  })

  test('needs the right to read', async () => {
    const nobody = await callers.make({})
    assert.deepEqual((await nobody.client.get(`${USERS}?page[size]=0`, 403)).body, {
      errors: ['Missing permission: user_access_read'],
    })
  })
})

describe('changing a user', () => {
  test('changes what is given and nothing else', async () => {
    const { id, attributes } = await create({ name: 'Before', title: 'Stays' })
    const { body } = await admin.patch(`${USERS}/${id}`, 200, patchBody(id.toUpperCase(), { name: ' After ' }))
    assert.deepEqual([body.data.attributes.name, body.data.attributes.title], ['After', 'Stays'])
    assert.notEqual(body.data.attributes.modified_at, undefined)
    assert.equal(body.data.attributes.created_at, attributes.created_at)
    const cleared = await admin.patch(`${USERS}/${id}`, 200, patchBody(id, { name: null, title: ' ' }))
    assert.deepEqual([cleared.body.data.attributes.name, cleared.body.data.attributes.title], [null, null])
    assert.deepEqual(await auditActions(id), ['user.created', 'user.updated', 'user.updated'])
    const untouched = await admin.patch(`${USERS}/${id}`, 200, patchBody(id, {}))
    assert.deepEqual(untouched.body, cleared.body)
    assert.equal((await auditActions(id)).length, 3)
  })

  test('another address is unverified, keeps the handle and must be free', async () => {
    const [first, second] = [await create(), await create()]
    const taken = patchBody(second.id, { email: first.attributes.email })
    assert.deepEqual((await admin.patch(`${USERS}/${second.id}`, 422, taken)).body, {
      errors: [`Email ${first.attributes.email} is already in use`],
    })
    const caller = await callers.make({ permissions: ['user_self_profile_write'] })
    const email = `moved-${++made}@example.org`
    const { body } = await admin.patch(`${USERS}/${caller.userId}`, 200, patchBody(caller.userId, { email }))
    const { attributes } = body.data
    assert.deepEqual([attributes.email, attributes.verified, attributes.status], [email, false, 'Active'])
    assert.notEqual(attributes.handle, email)
    assert.deepEqual((await auditActions(caller.userId)).slice(-1), ['user.email_changed'])
    const same = patchBody(caller.userId, { email: email.toUpperCase() })
    assert.equal((await admin.patch(`${USERS}/${caller.userId}`, 200, same)).body.data.attributes.email, email)
  })

  test('is refused for a body that is about somebody else or has the wrong form', async () => {
    const { id } = await create()
    const mismatch = { errors: ['The id in the body does not match the id in the path'] }
    for (const other of [newId(), 'x', '']) {
      assert.deepEqual((await admin.patch(`${USERS}/${id}`, 422, patchBody(other, {}))).body, mismatch)
    }
    const unknown = newId()
    await admin.patch(`${USERS}/${unknown}`, 404, patchBody(unknown, {}))
    await admin.patch(`${USERS}/none`, 404, patchBody('none', {}))
    const wrong = { data: { type: 'user', attributes: { email: null, disabled: null, name: 1 } } }
    assert.deepEqual((await admin.patch(`${USERS}/${id}`, 400, { body: wrong })).body.errors.toSorted(), [
      'data.attributes.disabled must be true or false',
      'data.attributes.email must be a string',
      'data.attributes.name must be a string or null',
      'data.id is required',
      'data.type must be "users"',
    ])
    await admin.patch(`${USERS}/${id}`, 400, { body: { data: { type: 'users', id } } })
  })

  test('happens only to the version that the caller has seen', async () => {
    const { id } = await create()
    const tag = (await admin.get(`${USERS}/${id}`, 200)).headers.get('etag') ?? ''
    const headers = { 'if-match': tag }
    const changed = await admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'One' }), headers })
    await admin.patch(`${USERS}/${id}`, 412, { ...patchBody(id, { name: 'Two' }), headers })
    assert.equal((await admin.get(`${USERS}/${id}`, 200)).body.data.attributes.name, 'One')
    const now = { 'if-match': changed.headers.get('etag') ?? '' }
    await admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'Two' }), headers: now })
    await admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'Three' }), headers: { 'if-match': '*' } })
  })

  test('disables and enables, without sessions and tokens coming back', async () => {
    const caller = await callers.make({ roles: ['standard'] })
    const path = `${USERS}/${caller.userId}`
    const disabled = await admin.patch(path, 200, patchBody(caller.userId, { disabled: true }))
    assert.deepEqual([disabled.body.data.attributes.status, disabled.body.data.attributes.disabled], ['Disabled', true])
    await caller.client.get('/api/v2/current_user', 403)
    const again = await admin.patch(path, 200, patchBody(caller.userId, { disabled: true }))
    assert.deepEqual(again.body, disabled.body)
    const enabled = await admin.patch(path, 200, patchBody(caller.userId, { disabled: false }))
    assert.equal(enabled.body.data.attributes.status, 'Active')
    assert.equal(enabled.body.data.relationships.roles.data.length, 1)
    await caller.client.get('/api/v2/current_user', 403)
    const pending = await create()
    await admin.delete(`${USERS}/${pending.id}`, 204)
    const back = await admin.patch(`${USERS}/${pending.id}`, 200, patchBody(pending.id, { disabled: false }))
    assert.equal(back.body.data.attributes.status, 'Pending')
  })

  test('needs the right to manage; the one over service accounts reaches only those', async () => {
    const { id } = await create()
    const account = await admin.post('/api/v2/service_accounts', 201, {
      body: { data: { type: 'users', attributes: { email: 'bot@example.org', name: 'Bot', service_account: true } } },
    })
    const botId = account.body.data.id
    const keeper = await callers.make({ permissions: ['service_account_write'] })
    const missing = { errors: ['Missing permission: user_access_manage'] }
    assert.deepEqual((await keeper.client.patch(`${USERS}/${id}`, 403, patchBody(id, {}))).body, missing)
    assert.deepEqual((await keeper.client.delete(`${USERS}/${id}`, 403)).body, missing)
    const email = 'robots@example.org'
    const renamed = await keeper.client.patch(`${USERS}/${botId}`, 200, patchBody(botId, { name: 'Robot', email }))
    assert.deepEqual([renamed.body.data.attributes.verified, renamed.body.data.attributes.handle], [true, botId])
    await keeper.client.delete(`${USERS}/${botId}`, 204)
    const blind = await callers.make({ permissions: ['service_account_write'], scopes: ['service_account_write'] })
    const unknown = newId()
    await blind.client.patch(`${USERS}/${unknown}`, 403, patchBody(unknown, {}))
    await keeper.client.patch(`${USERS}/${unknown}`, 404, patchBody(unknown, {}))
    const standard = await callers.make({ roles: ['standard'] })
    assert.deepEqual((await standard.client.patch(`${USERS}/${id}`, 403, patchBody(id, {}))).body, missing)
    assert.deepEqual((await standard.client.delete(`${USERS}/${id}`, 403)).body, missing)
  })

  test('nobody but an administrator redirects the mail of an administrator', async () => {
    const manager = await callers.make({ permissions: ['user_access_manage'] })
    const other = await callers.make({ roles: ['admin'] })
    const change = patchBody(other.userId, { email: 'mine@example.org' })
    const { errors } = (await manager.client.patch(`${USERS}/${other.userId}`, 403, change)).body
    assert.deepEqual(errors, ['You cannot change the email address of an administrator'])
    const { id } = await create()
    await manager.client.patch(`${USERS}/${id}`, 200, patchBody(id, { email: `theirs-${++made}@example.org` }))
  })
})

describe('disabling a user', () => {
  test('works once, ends what the user could use, and keeps the roles', async () => {
    const caller = await callers.make({ roles: ['standard'] })
    const path = `${USERS}/${caller.userId}`
    const key = await caller.client.post('/api/v2/current_user/application_keys', 201, {
      body: { data: { type: 'application_keys', attributes: { name: 'sleeps' } } },
    })
    const pair = admin.as({ apiKey: server.apiKey, applicationKey: key.body.data.attributes.key })
    await pair.get('/api/v2/current_user', 200)
    const { headers, text } = await admin.delete(path, 204)
    assert.deepEqual([headers.get('content-type'), text], [null, ''])
    await caller.client.get('/api/v2/current_user', 403)
    await pair.get('/api/v2/current_user', 403)
    assert.deepEqual((await admin.delete(path, 404)).body, { errors: [`User ${caller.userId} not found`] })
    assert.equal((await admin.get(path, 200)).body.data.relationships.roles.data.length, 1)
    await admin.patch(path, 200, patchBody(caller.userId, { disabled: false }))
    await pair.get('/api/v2/current_user', 200)
    await caller.client.get('/api/v2/current_user', 403)
  })

  test('revokes open invitations', async () => {
    const { id } = await create()
    const invited = await admin.post('/api/v2/user_invitations', 201, {
      body: { data: [{ type: 'user_invitations', relationships: { user: { data: { id, type: 'users' } } } }] },
    })
    await admin.delete(`${USERS}/${id}`, 204)
    const invitation = await admin.get(`/api/v2/user_invitations/${invited.body.data[0].id}`, 200)
    assert.equal(invitation.body.data.attributes.status, 'revoked')
  })

  test('spares the caller and the last administrator', async () => {
    const self = (await admin.get('/api/v2/current_user', 200)).body.data.id
    const own = { errors: ['You cannot disable your own account'] }
    assert.deepEqual((await admin.delete(`${USERS}/${self}`, 403)).body, own)
    assert.deepEqual((await admin.patch(`${USERS}/${self}`, 403, patchBody(self, { disabled: true }))).body, own)
    const current = await admin.patch('/api/v2/current_user', 403, patchBody(self, { disabled: true }))
    assert.deepEqual(current.body, own)
    const { data } = (await admin.get(`${USERS}?filter[role]=${await roleIdOf('Platform Admin Role')}`, 200)).body
    for (const { id } of data as { id: string }[]) if (id !== self) await admin.delete(`${USERS}/${id}`, 204)
    const manager = await callers.make({ permissions: ['user_access_manage'] })
    const last = { errors: ['The last administrator cannot be disabled'] }
    assert.deepEqual((await manager.client.delete(`${USERS}/${self}`, 403)).body, last)
    assert.deepEqual(
      (await manager.client.patch(`${USERS}/${self}`, 403, patchBody(self, { disabled: true }))).body,
      last,
    )
  })
})

describe("changing one's own profile", () => {
  const CURRENT = '/api/v2/current_user'

  test('needs its own right and the own id', async () => {
    const nobody = await callers.make({})
    const refused = await nobody.client.patch(CURRENT, 403, patchBody(nobody.userId, { name: 'Me' }))
    assert.deepEqual(refused.body, { errors: ['Missing permission: user_self_profile_write'] })
    const reader = await callers.make({ roles: ['read_only'] })
    await reader.client.patch(CURRENT, 422, patchBody(nobody.userId, { name: 'Me' }))
    const { body } = await reader.client.patch(CURRENT, 200, patchBody(reader.userId, { name: 'Me' }))
    assert.deepEqual([body.data.id, body.data.attributes.name], [reader.userId, 'Me'])
    await reader.client.patch(CURRENT, 412, {
      ...patchBody(reader.userId, { name: 'You' }),
      headers: { 'if-match': '"old"' },
    })
    const moved = await reader.client.patch(
      CURRENT,
      200,
      patchBody(reader.userId, { email: `own-${++made}@example.org` }),
    )
    assert.equal(moved.body.data.attributes.verified, false)
  })
})
