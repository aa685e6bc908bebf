import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'
import { assertFails, type Client, connect, skipped } from './datadog-client.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const NOBODY = '018f0000-0000-7000-8000-000000000000'

describe('the published client, on users', { skip: skipped }, () => {
  let server: TestServer
  let sdk: Client
  before(async () => {
    server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
    sdk = connect(server)
  })
  after(() => server.stop())

  async function create(email: string, attributes: object = {}, roles: string[] = []) {
    const relationships = { roles: { data: roles.map((id) => ({ id, type: 'roles' })) } }
    const body = { data: { type: 'users', attributes: { email, ...attributes }, relationships } }
    return (await sdk.users.createUser({ body })).data
  }

  async function roleNamed(name: string): Promise<string> {
    return (await sdk.roles.listRoles({ filter: name })).data[0].id
  }

  const update = (id: string, attributes: object, bodyId = id) =>
    sdk.users.updateUser({ userId: id, body: { data: { type: 'users', id: bodyId, attributes } } })

  test('creates, reads, changes, disables and enables a user', async () => {
    const standard = await roleNamed('Platform Standard Role')
    const user = await create('Life@Example.org', { name: 'Ada', title: 'Engineer' }, [standard])
    assert.match(user.id, UUID)
    const { createdAt, modifiedAt, icon, additionalProperties, ...attributes } = user.attributes
    assert.ok(createdAt instanceof Date && modifiedAt instanceof Date)
    assert.ok(icon.endsWith(`/api/v2/users/${user.id}/icon`))
    assert.deepEqual(additionalProperties, { allowed_login_methods: [] })
    assert.deepEqual(attributes, {
      disabled: false,
      email: 'life@example.org',
      handle: 'life@example.org',
      lastLoginTime: null,
      mfaEnabled: false,
      name: 'Ada',
      serviceAccount: false,
      status: 'Pending',
      title: 'Engineer',
      uuid: undefined,
      verified: false,
    })
    assert.deepEqual(
      user.relationships.roles.data.map(({ id }: { id: string }) => id),
      [standard],
    )
    assert.equal(user.relationships.org.data.type, 'orgs')

    const read = await sdk.users.getUser({ userId: user.id })
    assert.deepEqual(read.data, user)
    const kinds = read.included.map((item: { type: string }) => item.type)
    assert.deepEqual([...new Set(kinds)], ['orgs', 'roles', 'permissions'])

    const changed = await update(user.id, { name: 'Ada L.', email: 'life2@example.org' })
    assert.equal(changed.data.attributes.name, 'Ada L.')
    assert.equal(changed.data.attributes.email, 'life2@example.org')
    assert.equal(changed.data.attributes.handle, 'life@example.org')

    assert.equal(await sdk.users.disableUser({ userId: user.id }), undefined)
    const disabled = (await sdk.users.getUser({ userId: user.id })).data.attributes
    assert.deepEqual([disabled.status, disabled.disabled], ['Disabled', true])
    await assertFails(sdk.users.disableUser({ userId: user.id }), 404)
    assert.equal((await update(user.id, { disabled: false })).data.attributes.status, 'Pending')
  })

  test('shows who calls, by key pair and by bearer token, and changes it', async () => {
    const { data } = await sdk.users.getCurrentUser()
    assert.equal(data.attributes.status, 'Active')
    assert.deepEqual((await connect(server, { token: server.adminToken }).users.getCurrentUser()).data, data)
    const body = { data: { type: 'users', id: data.id, attributes: { name: 'First Administrator' } } }
    const changed = await sdk.users.updateCurrentUser({ body })
    assert.equal(changed.data.attributes.name, 'First Administrator')
    const other = { data: { ...body.data, id: NOBODY } }
    await assertFails(sdk.users.updateCurrentUser({ body: other }), 422)
  })

  test('lists the organizations and the permissions of a user', async () => {
    const id = (await create('lists@example.org', {}, [await roleNamed('Platform Read Only Role')])).id
    const { data, included } = await sdk.users.listUserOrganizations({ userId: id })
    assert.equal(data.id, id)
    const org = included.find((item: { type: string }) => item.type === 'orgs')
    assert.equal(org.id, data.relationships.org.data.id)
    assert.equal(org.attributes.sharing, 'none')
    const permissions = (await sdk.users.listUserPermissions({ userId: id })).data
    assert.deepEqual(
      permissions.map(({ attributes }: { attributes: { name: string } }) => attributes.name),
      ['callbacks_read', 'notes_read', 'projects_read', 'user_access_read', 'user_self_profile_write'],
    )
    assert.ok(
      permissions.every(({ attributes }: { attributes: { created: unknown } }) => attributes.created instanceof Date),
    )
  })

  test('pages through all users, each once, whatever the page size', async () => {
    for (let n = 0; n < 25; n++) await create(`paged-${String(n).padStart(2, '0')}@example.org`, { name: `Paged ${n}` })
    const param = { filter: 'paged-', sort: 'email' }
    const expected = Array.from({ length: 25 }, (_, n) => `paged-${String(n).padStart(2, '0')}@example.org`)
    for (const pageSize of [undefined, 1, 5, 7, 25, 26, 100]) {
      const emails = []
      for await (const user of sdk.users.listUsersWithPagination({ ...param, ...(pageSize && { pageSize }) })) {
        emails.push(user.attributes.email)
      }
      assert.deepEqual(emails, expected, `page size ${pageSize}`)
    }
    const { meta, data } = await sdk.users.listUsers({ ...param, sortDir: 'desc', pageSize: 3, pageNumber: 1 })
    assert.deepEqual(
      data.map(({ attributes }: { attributes: { email: string } }) => attributes.email),
      [...expected].reverse().slice(3, 6),
    )
    assert.equal(meta.page.totalFilteredCount, 25)
    assert.ok(meta.page.totalCount > 25)
    const active = await sdk.users.listUsers({ filterStatus: 'Active,Disabled', pageSize: 100 })
    assert.ok(
      active.data.every(({ attributes }: { attributes: { status: string } }) => attributes.status !== 'Pending'),
    )
    for (const sort of ['name', '-name', 'modified_at', '-modified_at', 'user_count', '-user_count']) {
      assert.equal((await sdk.users.listUsers({ ...param, sort })).data.length, 10)
    }
  })

  test('anonymizes users and reports each that it could not', async () => {
    const { id } = await create('gone@example.org', { name: 'Gone' })
    const self = (await sdk.users.getCurrentUser()).data.id
    const attributes = { userIds: [id, NOBODY, self] }
    const body = { data: { type: 'anonymize_users_request', attributes } }
    const { data } = await sdk.users.anonymizeUsers({ body })
    assert.match(data.id, UUID)
    assert.equal(data.type, 'anonymize_users_response')
    assert.deepEqual(data.attributes.anonymizedUserIds, [id])
    const failed = data.attributes.anonymizeErrors.map(({ error, userId }: { error: string; userId: string }) => [
      userId,
      error,
    ])
    assert.deepEqual(failed, [
      [NOBODY, 'User not found'],
      [self, 'You cannot anonymize your own account'],
    ])
    const user = (await sdk.users.getUser({ userId: id })).data.attributes
    assert.deepEqual([user.name, user.status], ['Anonymized User', 'Disabled'])
    assert.equal((await create('gone@example.org')).attributes.status, 'Pending')
    const none = await sdk.users.anonymizeUsers({ body: { data: { ...body.data, attributes: { userIds: [id] } } } })
    assert.deepEqual(none.data.attributes.anonymizeErrors, [])
  })

  test('invites a user, looks the invitation up and revokes it', async () => {
    const { id } = await create('invited@example.org')
    const entry = { type: 'user_invitations', relationships: { user: { data: { id, type: 'users' } } } }
    const sent = await sdk.users.sendInvitations({ body: { data: [entry] } })
    const [invitation] = sent.data
    assert.equal(invitation.attributes.uuid, invitation.id)
    assert.equal(invitation.attributes.inviteType, 'openid_invite')
    assert.equal(invitation.attributes.expiresAt - invitation.attributes.createdAt, 48 * 3_600_000)
    assert.equal(invitation.relationships.user.data.id, id)
    const found = await sdk.users.getInvitation({ userInvitationUuid: invitation.id })
    assert.deepEqual(found.data, invitation)
    assert.equal(await sdk.users.deleteUserInvitations({ userId: id }), undefined)
    const revoked = await client(server).get(`/api/v2/user_invitations/${invitation.id}`, 200)
    assert.equal(revoked.body.data.attributes.status, 'revoked')
    await sdk.users.deleteUserInvitations({ userId: id })
  })

  test('throws its own exception with the status and the texts of every refusal', async () => {
    const user = await create('taken@example.org')
    const unknown = `User ${NOBODY} not found`
    await assertFails(create('not an address'), 400, 'data.attributes.email is not a valid email address')
    await assertFails(create('roles@example.org', {}, [NOBODY]), 400, `Role ${NOBODY} not found`)
    await assertFails(create('TAKEN@example.org'), 409, 'A user with email taken@example.org already exists')
    await assertFails(update(user.id, { email: 'life2@example.org' }), 422, 'Email life2@example.org is already in use')
    await assertFails(update(user.id, {}, NOBODY), 422, 'The id in the body does not match the id in the path')
    await assertFails(update(NOBODY, { name: 'x' }), 404, unknown)
    await assertFails(sdk.users.getUser({ userId: NOBODY }), 404, unknown)
    await assertFails(sdk.users.getUser({ userId: 'nonsense' }), 404)
    await assertFails(sdk.users.listUserOrganizations({ userId: NOBODY }), 404, unknown)
    await assertFails(sdk.users.listUserPermissions({ userId: NOBODY }), 404, unknown)
    await assertFails(sdk.users.deleteUserInvitations({ userId: NOBODY }), 404, unknown)
    await assertFails(sdk.users.getInvitation({ userInvitationUuid: NOBODY }), 404, `Invitation ${NOBODY} not found`)
    await assertFails(sdk.users.sendInvitations({ body: { data: [] } }), 400)
    await assertFails(sdk.users.listUsers({ pageSize: 101 }), 400, 'page[size] must be an integer from 1 to 100')
    await assertFails(sdk.users.listUsers({ filterStatus: 'Sleeping' }), 400)
    const empty = { data: { type: 'anonymize_users_request', attributes: { userIds: [] } } }
    await assertFails(sdk.users.anonymizeUsers({ body: empty }), 400)
    const self = (await sdk.users.getCurrentUser()).data.id
    await assertFails(sdk.users.disableUser({ userId: self }), 403, 'You cannot disable your own account')
  })

  test('is 403 with keys that are not known, and 401 without', async () => {
    const strangers = connect(server, { keys: { apiKey: 'f'.repeat(32), applicationKey: 'f'.repeat(40) } })
    await assertFails(strangers.users.listUsers(), 403, 'Forbidden')
    await assertFails(strangers.users.getCurrentUser(), 403, 'Forbidden')
    const half = connect(server, { keys: { apiKey: server.apiKey, applicationKey: '' } })
    await assertFails(half.users.listUsers(), 401, 'Unauthorized')
  })
})
