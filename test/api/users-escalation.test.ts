import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import { setPasswordHash } from '../../src/users/sign-in/store-passwords.ts'
import { type Caller, type Callers, openCallers } from '../support/callers.ts'
import { scopedKeys } from '../support/credential-cases.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

// Everything that changes users, roles and keys; and neither `admin` nor what only administrators see.
const MANAGER = [
  'user_access_manage',
  'user_access_invite',
  'service_account_write',
  'user_app_keys',
  'org_app_keys_manage',
  'api_keys_read',
  'api_keys_write',
]
const LACKING = /^You cannot grant a permission you do not have: \w+$/
const USERS = '/api/v2/users'
const ROLES = '/api/v2/roles'

let server: TestServer
let callers: Callers
let admin: TestClient
let manager: Caller
let adminRole: string
let firstAdministrator: string
before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  callers = await openCallers(server)
  admin = client(server)
  manager = await callers.make({ permissions: MANAGER })
  const roles = (await admin.get(`${ROLES}?filter=Platform+Admin`, 200)).body.data
  adminRole = roles[0].id
  firstAdministrator = (await admin.get('/api/v2/current_user', 200)).body.data.id
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

const reference = (type: string, id: string) => ({ body: { data: { type, id } } })
const permission = (name: string) => ({ id: permissionId(name), type: 'permissions' })

function newUser(email: string, roles: string[], more: object = {}) {
  const relationships = { roles: { data: roles.map((id) => ({ id, type: 'roles' })) } }
  return { body: { data: { type: 'users', attributes: { email, ...more }, relationships } } }
}

function role(name: string, permissions: string[], id?: string) {
  const relationships = { permissions: { data: permissions.map(permission) } }
  return { body: { data: { type: 'roles', ...(id && { id }), attributes: { name }, relationships } } }
}

/** The role that the manager has, and nobody else. */
async function ownRole(caller: Caller): Promise<string> {
  const { body } = await admin.get(`${USERS}/${caller.userId}`, 200)
  return body.data.relationships.roles.data[0].id
}

async function permissionsOf(userId: string): Promise<string[]> {
  const { body } = await admin.get(`${USERS}/${userId}/permissions`, 200)
  return body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)
}

/** Everything about users and roles, to show that a refusal changed nothing. */
async function everything() {
  const users = (await admin.get(`${USERS}?page[size]=100`, 200)).body
  const roles = (await admin.get(`${ROLES}?page[size]=100`, 200)).body
  const keys = (await admin.get('/api/v2/application_keys?page[size]=100', 200)).body.data
  // What time does to a key by itself is no change.
  const named = keys.map(({ id, attributes }: { id: string; attributes: object }) => ({
    id,
    ...attributes,
    last_used_at: 0,
  }))
  return { users: users.data, roles: roles.data, keys: named }
}

describe('a manager without the permission admin cannot lift anybody, itself included', () => {
  async function assertRefused(method: string, path: string, options: { body: unknown }, text: RegExp = LACKING) {
    const before = await everything()
    const { body } = await manager.client.call(method, path, 403, options)
    assert.equal(body.errors.length, 1)
    assert.match(body.errors[0], text)
    assert.deepEqual(await everything(), before)
  }

  test('by creating a user or a service account in a higher role', async () => {
    await assertRefused('POST', USERS, newUser('lifted@example.org', [adminRole]))
    await assertRefused(
      'POST',
      '/api/v2/service_accounts',
      newUser('robot@example.org', [adminRole], { service_account: true }),
    )
  })

  test('by a role assignment', async () => {
    const { userId } = await callers.make({})
    await assertRefused('POST', `${ROLES}/${adminRole}/users`, reference('users', manager.userId))
    await assertRefused('POST', `${ROLES}/${adminRole}/users`, reference('users', userId))
  })

  test('by making, changing or cloning a role', async () => {
    const own = await ownRole(manager)
    await assertRefused('POST', ROLES, role('Auditors', ['audit_logs_read']))
    await assertRefused('POST', ROLES, role('Owners', ['admin']))
    await assertRefused('PATCH', `${ROLES}/${own}`, role('Managers', [...MANAGER, 'admin'], own))
    await assertRefused('POST', `${ROLES}/${own}/permissions`, { body: { data: permission('org_management') } })
    await assertRefused('POST', `${ROLES}/${adminRole}/clone`, role('Copy', []))
    assert.deepEqual((await permissionsOf(manager.userId)).includes('admin'), false)
  })

  test('by a key of somebody who may do more, be it new or widened', async () => {
    const account = await admin.post(
      '/api/v2/service_accounts',
      201,
      newUser('chief@example.org', [adminRole], { service_account: true }),
    )
    const keys = `/api/v2/service_accounts/${account.body.data.id}/application_keys`
    const wish = (attributes: object, id?: string) => ({
      body: { data: { type: 'application_keys', ...(id && { id }), attributes } },
    })
    await assertRefused('POST', keys, wish({ name: 'full' }))
    await assertRefused('POST', keys, wish({ name: 'audit', scopes: ['audit_logs_read'] }))
    const narrow = await manager.client.post(keys, 201, wish({ name: 'narrow', scopes: ['user_access_read'] }))
    const { id } = narrow.body.data
    await assertRefused('PATCH', `${keys}/${id}`, wish({ scopes: null }, id))
    await assertRefused('PATCH', `/api/v2/application_keys/${id}`, wish({ scopes: ['admin'] }, id))
  })

  test('by sending the mail of an administrator to another address', async () => {
    const { userId } = await callers.make({ roles: ['admin'] })
    const body = { data: { type: 'users', id: userId, attributes: { email: 'mine@example.org' } } }
    await assertRefused('PATCH', `${USERS}/${userId}`, { body }, /^You cannot change the email address of an admin/)
  })

  test('by sending the mail of somebody with other rights to another address', async () => {
    const change = (id: string, name: string) => ({
      body: { data: { type: 'users', id, attributes: { email: `${name}@example.org` } } },
    })
    const auditor = await callers.make({ permissions: ['audit_logs_read'] })
    const text =
      'You cannot change the email address of somebody with a permission that you do not have: audit_logs_read'
    await assertRefused('PATCH', `${USERS}/${auditor.userId}`, change(auditor.userId, 'mine'), new RegExp(`^${text}$`))
    const equal = await callers.make({ permissions: ['user_access_invite'] })
    await manager.client.patch(`${USERS}/${equal.userId}`, 200, change(equal.userId, 'theirs'))
    const robot = await admin.post(
      '/api/v2/service_accounts',
      201,
      newUser('robot@example.org', [await ownRole(auditor)], { service_account: true }),
    )
    const { id } = robot.body.data
    await manager.client.patch(`${USERS}/${id}`, 200, change(id, 'contact'))
  })

  test('by the link of an invitation for an administrator, or for somebody with other rights who was here before', async () => {
    const auditors = await ownRole(await callers.make({ permissions: ['audit_logs_read'] }))
    const made = async (name: string, roles: string[]) =>
      (await admin.post(USERS, 201, newUser(`${name}@example.org`, roles))).body.data.id
    const higher = await made('higher', [adminRole])
    const [equal, returned] = [await made('equal', []), await made('returned', [auditors])]
    const [newcomer, enrolled] = [await made('newcomer', [auditors]), await made('enrolled', [auditors])]
    const factor = { user_id: enrolled, secret: 'x', confirmed_at: 1, last_step: 0, created_at: 1 }
    await callers.db.write(async (tx) => {
      for (const id of [equal, returned]) await setPasswordHash(tx, id, 'x', 1)
      await tx.query.insertInto('user_totp').values(factor).execute()
    })
    const ids = [higher, equal, returned, newcomer, enrolled]
    const data = ids.map((id) => ({
      type: 'user_invitations',
      relationships: { user: { data: { id, type: 'users' } } },
    }))
    const { body } = await manager.client.post('/api/v2/user_invitations', 201, { body: { data } })
    assert.deepEqual(Object.keys(body.meta.accept_links).sort(), [body.data[1].id, body.data[3].id].sort())
    const all = await admin.post('/api/v2/user_invitations', 201, { body: { data } })
    assert.equal(Object.keys(all.body.meta.accept_links).length, 5)
  })

  test('and a narrowed key cannot make one that is not', async () => {
    const { client: owner } = await callers.make({ roles: ['admin'] })
    const narrow = client(server, { headers: await scopedKeys(server, owner, ['user_app_keys']) })
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const token = { data: { type: 'personal_access_tokens', attributes: { name: 'full', expires_at } } }
    const key = { data: { type: 'application_keys', attributes: { name: 'full' } } }
    for (const [path, body] of [
      ['/api/v2/personal_access_tokens', token],
      ['/api/v2/current_user/application_keys', key],
    ] as const) {
      assert.match((await narrow.post(path, 403, { body })).body.errors[0], LACKING)
    }
  })

  test('and a narrowed key or token does not take its owner over by the address or the second factor', async () => {
    const scopes = ['user_self_profile_write', 'user_access_manage']
    const { client: narrow, userId: id } = await callers.make({ roles: ['admin'], scopes })
    const change = (attributes: object) => ({ body: { data: { type: 'users', id, attributes } } })
    const code = { body: { data: { type: 'totp_enrollments', attributes: { code: '123456' } } } }
    const totp = '/api/v2/current_user/totp'
    for (const { body } of [
      await narrow.patch('/api/v2/current_user', 403, change({ email: 'thief@example.org' })),
      await narrow.patch(`${USERS}/${id}`, 403, change({ email: 'thief@example.org' })),
      await narrow.post(totp, 403),
      await narrow.post(`${totp}/confirm`, 403, code),
      await narrow.delete(totp, 403),
      await narrow.delete(`${USERS}/${id}/totp`, 403),
    ]) {
      assert.match(body.errors[0], /^A token or key that lacks a permission of its owner cannot change .*: \w+$/)
    }
    await narrow.patch('/api/v2/current_user', 200, change({ name: 'Narrow', title: 'Still' }))
    const { client: whole, userId } = await callers.make({ permissions: ['user_self_profile_write'] })
    await whole.post(totp, 201)
    const own = { data: { type: 'users', id: userId, attributes: { email: 'moved@example.org' } } }
    await whole.patch('/api/v2/current_user', 200, { body: own })
  })

  test('while what it has, it may give', async () => {
    const { userId } = await callers.make({})
    const { body } = await manager.client.post(ROLES, 200, role('Inviters', ['user_access_invite']))
    await manager.client.post(`${ROLES}/${body.data.id}/users`, 200, reference('users', userId))
    assert.ok((await permissionsOf(userId)).includes('user_access_invite'))
  })
})

describe('the organization keeps an administrator', () => {
  const disable = (id: string) => ({ body: { data: { type: 'users', id, attributes: { disabled: true } } } })

  test('who is neither disabled, nor removed from the role, nor anonymized by anybody', async () => {
    for (const { id, relationships } of (await admin.get(`${USERS}?filter[role]=${adminRole}&page[size]=100`, 200)).body
      .data) {
      if (id !== firstAdministrator && relationships !== undefined) {
        await admin.delete(`${ROLES}/${adminRole}/users`, 200, reference('users', id))
      }
    }
    const path = `${USERS}/${firstAdministrator}`
    const refusals = [
      ['disabled', await manager.client.delete(path, 403)],
      ['disabled', await manager.client.patch(path, 403, disable(firstAdministrator))],
      [
        'removed',
        await manager.client.delete(`${ROLES}/${adminRole}/users`, 403, reference('users', firstAdministrator)),
      ],
      ['removed', await admin.delete(`${ROLES}/${adminRole}/users`, 403, reference('users', firstAdministrator))],
    ] as const
    for (const [verb, { body }] of refusals) {
      assert.deepEqual(body, { errors: [`The last administrator cannot be ${verb}`] })
    }
    const attributes = { user_ids: [firstAdministrator] }
    const body = { data: { type: 'anonymize_users_request', attributes } }
    const { data } = (await manager.client.put('/api/v2/anonymize_users', 200, { body })).body
    assert.deepEqual(data.attributes.anonymize_errors, [
      { error: 'The last administrator cannot be anonymized', user_id: firstAdministrator },
    ])
    assert.equal((await admin.get(path, 200)).body.data.attributes.status, 'Active')
  })

  test('and nobody disables or anonymizes the account that is calling', async () => {
    const own = { errors: ['You cannot disable your own account'] }
    for (const caller of [manager.client, (await callers.make({ roles: ['admin'] })).client]) {
      const { id } = (await caller.get('/api/v2/current_user', 200)).body.data
      assert.deepEqual((await caller.delete(`${USERS}/${id}`, 403)).body, own)
      assert.deepEqual((await caller.patch(`${USERS}/${id}`, 403, disable(id))).body, own)
      const attributes = { user_ids: [id] }
      const body = { data: { type: 'anonymize_users_request', attributes } }
      const { data } = (await caller.put('/api/v2/anonymize_users', 200, { body })).body
      assert.deepEqual(data.attributes.anonymize_errors, [
        { error: 'You cannot anonymize your own account', user_id: id },
      ])
    }
  })
})
