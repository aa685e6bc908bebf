import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { patchBody, USERS, UsersApi } from '../support/users-api.ts'

let api: UsersApi
before(async () => {
  api = await UsersApi.start()
})
after(() => api[Symbol.asyncDispose]())

describe('listing users', () => {
  const list = (query: string, status = 200) => api.admin.get(`${USERS}?${query}`, status)
  const emailsOf = (body: { data: { attributes: { email: string } }[] }) =>
    body.data.map(({ attributes }) => attributes.email)

  test('pages from 0, ten at a time, to an empty page behind the last', async () => {
    for (let n = 0; n < 12; n++) await api.create({ name: `paged ${String(n).padStart(2, '0')}` })
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
    for (const beyond of ['999999999999999', '9007199254740991', '9'.repeat(30)]) {
      assert.deepEqual((await list(`page[number]=${beyond}&page[size]=100`)).body.data, [], beyond)
    }
    assert.equal((await list('page[size]=5&filter=paged')).body.data.length, 5)
  })

  test('a minus turns the order round, and sort_dir does where there is none', async () => {
    const emails = ['a', 'b', 'c'].map((letter) => `${letter}-sorted@example.org`)
    for (const email of emails) await api.create({ email })
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
    const role = await api.roleIdOf('Platform Read Only Role')
    const name = 'filtered person'
    const pending = await api.create({ name }, [role])
    const disabled = await api.create({ name }, [role])
    await api.admin.delete(`${USERS}/${disabled.id}`, 204)
    await api.create({ name })
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
    assert.equal(await count('filter[role]=+'), 3, 'an empty filter is none')
    for (const nobody of [',', '+,+,', ',none']) assert.equal(await count(`filter[role]=${nobody}`), 0)
    assert.equal(await count(`filter[role]=,${role},`), 2)
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
    await api.create({ name: '100%_*?[x]"y' })
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
    const nobody = await api.callers.make({})
    assert.deepEqual((await nobody.client.get(`${USERS}?page[size]=0`, 403)).body, {
      errors: ['Missing permission: user_access_read'],
    })
  })
})

describe('changing a user', () => {
  test('changes what is given and nothing else', async () => {
    const { id, attributes } = await api.create({ name: 'Before', title: 'Stays' })
    const { body } = await api.admin.patch(`${USERS}/${id}`, 200, patchBody(id.toUpperCase(), { name: ' After ' }))
    assert.deepEqual([body.data.attributes.name, body.data.attributes.title], ['After', 'Stays'])
    assert.notEqual(body.data.attributes.modified_at, undefined)
    assert.equal(body.data.attributes.created_at, attributes.created_at)
    const cleared = await api.admin.patch(`${USERS}/${id}`, 200, patchBody(id, { name: null, title: ' ' }))
    assert.deepEqual([cleared.body.data.attributes.name, cleared.body.data.attributes.title], [null, null])
    assert.deepEqual(await api.auditActions(id), ['user.created', 'user.updated', 'user.updated'])
    const untouched = await api.admin.patch(`${USERS}/${id}`, 200, patchBody(id, {}))
    assert.deepEqual(untouched.body, cleared.body)
    assert.equal((await api.auditActions(id)).length, 3)
  })

  test('another address is unverified, keeps the handle and must be free', async () => {
    const [first, second] = [await api.create(), await api.create()]
    const taken = patchBody(second.id, { email: first.attributes.email })
    assert.deepEqual((await api.admin.patch(`${USERS}/${second.id}`, 422, taken)).body, {
      errors: [`Email ${first.attributes.email} is already in use`],
    })
    const caller = await api.callers.make({ permissions: ['user_self_profile_write'] })
    const email = api.newEmail()
    const { body } = await api.admin.patch(`${USERS}/${caller.userId}`, 200, patchBody(caller.userId, { email }))
    const { attributes } = body.data
    assert.deepEqual([attributes.email, attributes.verified, attributes.status], [email, false, 'Active'])
    assert.notEqual(attributes.handle, email)
    assert.deepEqual((await api.auditActions(caller.userId)).slice(-1), ['user.email_changed'])
    const same = patchBody(caller.userId, { email: email.toUpperCase() })
    assert.equal((await api.admin.patch(`${USERS}/${caller.userId}`, 200, same)).body.data.attributes.email, email)
  })

  test('is refused for a body that is about somebody else or has the wrong form', async () => {
    const { id } = await api.create()
    const mismatch = { errors: ['The id in the body does not match the id in the path'] }
    for (const other of [newId(), 'x', '']) {
      assert.deepEqual((await api.admin.patch(`${USERS}/${id}`, 422, patchBody(other, {}))).body, mismatch)
    }
    const unknown = newId()
    await api.admin.patch(`${USERS}/${unknown}`, 404, patchBody(unknown, {}))
    await api.admin.patch(`${USERS}/none`, 404, patchBody('none', {}))
    const wrong = { data: { type: 'user', attributes: { email: null, disabled: null, name: 1 } } }
    assert.deepEqual((await api.admin.patch(`${USERS}/${id}`, 400, { body: wrong })).body.errors.toSorted(), [
      'data.attributes.disabled must be true or false',
      'data.attributes.email must be a string',
      'data.attributes.name must be a string or null',
      'data.id is required',
      'data.type must be "users"',
    ])
    await api.admin.patch(`${USERS}/${id}`, 400, { body: { data: { type: 'users', id } } })
  })

  test('happens only to the version that the caller has seen', async () => {
    const { id } = await api.create()
    const tag = (await api.admin.get(`${USERS}/${id}`, 200)).headers.get('etag') ?? ''
    const headers = { 'if-match': tag }
    const changed = await api.admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'One' }), headers })
    await api.admin.patch(`${USERS}/${id}`, 412, { ...patchBody(id, { name: 'Two' }), headers })
    assert.equal((await api.admin.get(`${USERS}/${id}`, 200)).body.data.attributes.name, 'One')
    const now = { 'if-match': changed.headers.get('etag') ?? '' }
    await api.admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'Two' }), headers: now })
    await api.admin.patch(`${USERS}/${id}`, 200, { ...patchBody(id, { name: 'Three' }), headers: { 'if-match': '*' } })
  })

  test('by DELETE, too, happens only to the version that the caller has seen', async () => {
    const { id } = await api.create()
    const path = `${USERS}/${id}`
    const seen = { 'if-match': (await api.admin.get(path, 200)).headers.get('etag') ?? '' }
    await api.admin.patch(path, 200, patchBody(id, { name: 'Another' }))
    await api.admin.delete(path, 412, { headers: seen })
    const now = await api.admin.get(path, 200)
    assert.equal(now.body.data.attributes.disabled, false)
    await api.admin.delete(path, 204, { headers: { 'if-match': now.headers.get('etag') ?? '' } })
  })

  test('disables and enables, without sessions and tokens coming back', async () => {
    const caller = await api.callers.make({ roles: ['standard'] })
    const path = `${USERS}/${caller.userId}`
    const disabled = await api.admin.patch(path, 200, patchBody(caller.userId, { disabled: true }))
    assert.deepEqual([disabled.body.data.attributes.status, disabled.body.data.attributes.disabled], ['Disabled', true])
    await caller.client.get('/api/v2/current_user', 403)
    const again = await api.admin.patch(path, 200, patchBody(caller.userId, { disabled: true }))
    assert.deepEqual(again.body, disabled.body)
    const enabled = await api.admin.patch(path, 200, patchBody(caller.userId, { disabled: false }))
    assert.equal(enabled.body.data.attributes.status, 'Active')
    assert.equal(enabled.body.data.relationships.roles.data.length, 1)
    await caller.client.get('/api/v2/current_user', 403)
    const pending = await api.create()
    await api.admin.delete(`${USERS}/${pending.id}`, 204)
    const back = await api.admin.patch(`${USERS}/${pending.id}`, 200, patchBody(pending.id, { disabled: false }))
    assert.equal(back.body.data.attributes.status, 'Pending')
  })

  test('needs the right to manage; the one over service accounts reaches only those', async () => {
    const { id } = await api.create()
    const account = await api.admin.post('/api/v2/service_accounts', 201, {
      body: { data: { type: 'users', attributes: { email: 'bot@example.org', name: 'Bot', service_account: true } } },
    })
    const botId = account.body.data.id
    const keeper = await api.callers.make({ permissions: ['service_account_write'] })
    const missing = { errors: ['Missing permission: user_access_manage'] }
    assert.deepEqual((await keeper.client.patch(`${USERS}/${id}`, 403, patchBody(id, {}))).body, missing)
    assert.deepEqual((await keeper.client.delete(`${USERS}/${id}`, 403)).body, missing)
    const email = 'robots@example.org'
    const renamed = await keeper.client.patch(`${USERS}/${botId}`, 200, patchBody(botId, { name: 'Robot', email }))
    assert.deepEqual([renamed.body.data.attributes.verified, renamed.body.data.attributes.handle], [true, botId])
    await keeper.client.delete(`${USERS}/${botId}`, 204)
    const blind = await api.callers.make({ permissions: ['service_account_write'], scopes: ['service_account_write'] })
    const unknown = newId()
    await blind.client.patch(`${USERS}/${unknown}`, 403, patchBody(unknown, {}))
    await keeper.client.patch(`${USERS}/${unknown}`, 404, patchBody(unknown, {}))
    const standard = await api.callers.make({ roles: ['standard'] })
    assert.deepEqual((await standard.client.patch(`${USERS}/${id}`, 403, patchBody(id, {}))).body, missing)
    assert.deepEqual((await standard.client.delete(`${USERS}/${id}`, 403)).body, missing)
  })

  test('nobody but an administrator redirects the mail of an administrator', async () => {
    const manager = await api.callers.make({ permissions: ['user_access_manage'] })
    const other = await api.callers.make({ roles: ['admin'] })
    const change = patchBody(other.userId, { email: 'mine@example.org' })
    const { errors } = (await manager.client.patch(`${USERS}/${other.userId}`, 403, change)).body
    assert.deepEqual(errors, ['You cannot change the email address of an administrator'])
    const { id } = await api.create()
    await manager.client.patch(`${USERS}/${id}`, 200, patchBody(id, { email: api.newEmail() }))
  })
})

describe('disabling a user', () => {
  test('works once, ends what the user could use, and keeps the roles', async () => {
    const caller = await api.callers.make({ roles: ['standard'] })
    const path = `${USERS}/${caller.userId}`
    const key = await caller.client.post('/api/v2/current_user/application_keys', 201, {
      body: { data: { type: 'application_keys', attributes: { name: 'sleeps' } } },
    })
    const pair = api.admin.as({ apiKey: api.server.apiKey, applicationKey: key.body.data.attributes.key })
    await pair.get('/api/v2/current_user', 200)
    const { headers, text } = await api.admin.delete(path, 204)
    assert.deepEqual([headers.get('content-type'), text], [null, ''])
    await caller.client.get('/api/v2/current_user', 403)
    await pair.get('/api/v2/current_user', 403)
    assert.deepEqual((await api.admin.delete(path, 404)).body, { errors: [`User ${caller.userId} not found`] })
    assert.equal((await api.admin.get(path, 200)).body.data.relationships.roles.data.length, 1)
    await api.admin.patch(path, 200, patchBody(caller.userId, { disabled: false }))
    await pair.get('/api/v2/current_user', 200)
    await caller.client.get('/api/v2/current_user', 403)
  })

  test('revokes open invitations', async () => {
    const { id } = await api.create()
    const invited = await api.admin.post('/api/v2/user_invitations', 201, {
      body: { data: [{ type: 'user_invitations', relationships: { user: { data: { id, type: 'users' } } } }] },
    })
    await api.admin.delete(`${USERS}/${id}`, 204)
    const invitation = await api.admin.get(`/api/v2/user_invitations/${invited.body.data[0].id}`, 200)
    assert.equal(invitation.body.data.attributes.status, 'revoked')
  })

  test('spares the caller and the last administrator', async () => {
    const self = (await api.admin.get('/api/v2/current_user', 200)).body.data.id
    const own = { errors: ['You cannot disable your own account'] }
    assert.deepEqual((await api.admin.delete(`${USERS}/${self}`, 403)).body, own)
    assert.deepEqual((await api.admin.patch(`${USERS}/${self}`, 403, patchBody(self, { disabled: true }))).body, own)
    const current = await api.admin.patch('/api/v2/current_user', 403, patchBody(self, { disabled: true }))
    assert.deepEqual(current.body, own)
    const { data } = (await api.admin.get(`${USERS}?filter[role]=${await api.roleIdOf('Platform Admin Role')}`, 200))
      .body
    for (const { id } of data as { id: string }[]) if (id !== self) await api.admin.delete(`${USERS}/${id}`, 204)
    const manager = await api.callers.make({ permissions: ['user_access_manage'] })
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
    const nobody = await api.callers.make({})
    const refused = await nobody.client.patch(CURRENT, 403, patchBody(nobody.userId, { name: 'Me' }))
    assert.deepEqual(refused.body, { errors: ['Missing permission: user_self_profile_write'] })
    const reader = await api.callers.make({ roles: ['read_only'] })
    await reader.client.patch(CURRENT, 422, patchBody(nobody.userId, { name: 'Me' }))
    const { body } = await reader.client.patch(CURRENT, 200, patchBody(reader.userId, { name: 'Me' }))
    assert.deepEqual([body.data.id, body.data.attributes.name], [reader.userId, 'Me'])
    await reader.client.patch(CURRENT, 412, {
      ...patchBody(reader.userId, { name: 'You' }),
      headers: { 'if-match': '"old"' },
    })
    const moved = await reader.client.patch(CURRENT, 200, patchBody(reader.userId, { email: api.newEmail() }))
    assert.equal(moved.body.data.attributes.verified, false)
  })
})
