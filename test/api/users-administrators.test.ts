import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import type { CallerRights } from '../support/callers.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import type { TestClient } from '../support/test-client.ts'
import { USERS, UsersApi } from '../support/users-api.ts'

const MANAGER = ['user_access_manage', 'user_access_invite', 'service_account_write']
const ROLES = '/api/v2/roles'
const ANONYMIZE = '/api/v2/anonymize_users'
const SESSION = '01890000-0000-7000-8000-000000000001'
const TAKEN = 'You cannot take away a permission you do not have: admin'

/** With a role that nobody else has, a second factor and a session. */
interface Holder {
  id: UserId
  roleId: string
}

/** What somebody does to a user: how it is refused, where it is, and the status of its success. */
type Deed = [refusal: string, method: string, path: (holder: Holder) => string, status: number, body?: Body]
type Body = (holder: Holder) => unknown

const ofUser =
  (rest = '') =>
  ({ id }: Holder) =>
    `${USERS}/${id}${rest}`
const ofRole =
  (rest = '') =>
  ({ roleId }: Holder) =>
    `${ROLES}/${roleId}${rest}`
const patched =
  (attributes: object): Body =>
  ({ id }) => ({ data: { type: 'users', id, attributes } })
const anonymized =
  (more: object = {}): Body =>
  ({ id }) => ({ data: { type: 'anonymize_users_request', attributes: { user_ids: [id] } }, ...more })
const emptied: Body = ({ roleId: id }) => ({
  data: { type: 'roles', id, attributes: {}, relationships: { permissions: { data: [] } } },
})

const DEEDS: Deed[] = [
  ['You cannot change an administrator', 'PATCH', ofUser(), 200, patched({ name: 'Else' })],
  ['You cannot disable an administrator', 'PATCH', ofUser(), 200, patched({ disabled: true })],
  ['You cannot disable an administrator', 'DELETE', ofUser(), 204],
  ['You cannot end sessions of an administrator', 'DELETE', ofUser('/sessions'), 204],
  ['You cannot end sessions of an administrator', 'DELETE', ofUser(`/sessions/${SESSION}`), 404],
  ['You cannot reset the second factor of an administrator', 'DELETE', ofUser('/totp'), 204],
  ['You cannot anonymize an administrator', 'PUT', () => ANONYMIZE, 200, anonymized({ meta: { dry_run: true } })],
  ['You cannot anonymize an administrator', 'PUT', () => ANONYMIZE, 200, anonymized()],
  [TAKEN, 'DELETE', ofRole('/users'), 200, ({ id }) => ({ data: { type: 'users', id } })],
]
/** By way of a role of one's own making; the managed ones nobody changes. */
const ROLE_DEEDS: Deed[] = [
  [TAKEN, 'DELETE', ofRole('/permissions'), 200, () => ({ data: { type: 'permissions', id: permissionId('admin') } })],
  [TAKEN, 'PATCH', ofRole(), 200, emptied],
  [TAKEN, 'DELETE', ofRole(), 204],
]

for (const engine of ['sqlite', 'postgres'] as const) {
  const unavailable = engine === 'postgres' ? postgresUnavailable() : null
  const skip = unavailable !== null && `PostgreSQL: ${unavailable}`
  describe(`administrators, and those who only manage users (${engine})`, { skip }, () => {
    let api: UsersApi
    before(async () => {
      api = await UsersApi.start({ engine })
    })
    after(() => api[Symbol.asyncDispose]())
    suite(() => api)
  })
}

function suite(api: () => UsersApi): void {
  async function holderOf(rights: CallerRights, isAccount = false): Promise<Holder> {
    const { callers, admin } = api()
    const { userId: id } = await callers.make(rights)
    const { body } = await admin.get(`${USERS}/${id}`, 200)
    await callers.db.write(async ({ query }) => {
      const factor = { user_id: id, secret: 'x', confirmed_at: 1, last_step: 0, created_at: 1 }
      await query.insertInto('user_totp').values(factor).execute()
      if (isAccount) await query.updateTable('users').set({ service_account: 1 }).where('id', '=', id).execute()
    })
    return { id, roleId: body.data.relationships.roles.data[0].id }
  }

  async function stateOf({ id, roleId }: Holder) {
    const user = (await api().admin.get(`${USERS}/${id}`, 200)).body.data
    const role = (await api().admin.get(`${ROLES}/${roleId}`, 200)).body.data
    return { user, role, events: await api().auditActions(id) }
  }

  /** Anonymization fails for each user, not as a whole. */
  async function refusalOf(by: TestClient, [, method, path, , body]: Deed, holder: Holder): Promise<string> {
    const answer = await by.call(method, path(holder), method === 'PUT' ? 200 : 403, { body: body?.(holder) })
    return method === 'PUT' ? answer.body.data.attributes.anonymize_errors[0]?.error : answer.body.errors[0]
  }

  const HOLDERS: [string, CallerRights, boolean?][] = [
    ['by the managed role', { roles: ['admin'] }],
    ['by a role with that permission', { permissions: ['admin'] }],
    ['that is a service account', { permissions: ['admin'] }, true],
  ]
  for (const [title, rights, isAccount] of HOLDERS) {
    test(`an administrator ${title} is safe from managers and from narrowed keys of others`, async () => {
      const holder = await holderOf(rights, isAccount)
      const deeds = rights.permissions === undefined ? DEEDS : [...DEEDS, ...ROLE_DEEDS]
      const manager = await api().callers.make({ permissions: MANAGER })
      const narrowed = await api().callers.make({ roles: ['admin'], scopes: MANAGER })
      const before = await stateOf(holder)
      for (const { client } of [manager, narrowed]) {
        for (const deed of deeds) assert.equal(await refusalOf(client, deed, holder), deed[0], deed[1])
      }
      assert.deepEqual(await stateOf(holder), before)
    })
  }

  test('and is not let in again by them after somebody else disabled it', async () => {
    const { callers, admin } = api()
    const { client } = await callers.make({ permissions: MANAGER })
    const { id } = await holderOf({ roles: ['admin'] })
    await admin.delete(`${USERS}/${id}`, 204)
    const body = patched({ disabled: false })({ id, roleId: '' })
    assert.deepEqual((await client.patch(`${USERS}/${id}`, 403, { body })).body, {
      errors: ['You cannot change an administrator'],
    })
  })

  test('what managers do with others, and administrators with each other, they may do as ever', async () => {
    const pairs: [CallerRights, CallerRights][] = [
      [{ permissions: MANAGER }, { permissions: ['audit_logs_read'] }],
      [{ permissions: ['admin'] }, { permissions: ['admin'] }],
    ]
    for (const [caller, rights] of pairs) {
      const { client } = await api().callers.make(caller)
      for (const [, method, path, status, body] of [...DEEDS, ...ROLE_DEEDS]) {
        const holder = await holderOf(rights)
        const answer = await client.call(method, path(holder), status, { body: body?.(holder) })
        if (method === 'PUT') assert.deepEqual(answer.body.data.attributes.anonymize_errors, [])
      }
    }
  })

  test('with a narrowed key an administrator changes what is its own', async () => {
    const { client, userId: id } = await api().callers.make({ roles: ['admin'], scopes: MANAGER })
    await client.patch(`${USERS}/${id}`, 200, { body: patched({ name: 'Own' })({ id, roleId: '' }) })
    await client.delete(`${USERS}/${id}/sessions`, 204)
  })
}
