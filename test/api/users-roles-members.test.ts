import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

let server: TestServer
let callers: Callers
let admin: TestClient
let administratorId: string
before(async () => {
  server = await startServer({ mode: 'dev' })
  callers = await openCallers(server)
  admin = client(server)
  administratorId = (await members(await adminRoleId())).data[0].id
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

async function role(name: string, permissions: string[] = []): Promise<string> {
  const data = permissions.map((permission) => ({ id: permissionId(permission), type: 'permissions' }))
  const body = { data: { attributes: { name }, relationships: { permissions: { data } } } }
  return (await admin.post('/api/v2/roles', 200, { body })).body.data.id
}

async function adminRoleId(): Promise<string> {
  return (await admin.get('/api/v2/roles/templates', 200)).body.data[0].id
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
async function members(roleId: string, query = ''): Promise<any> {
  return (await admin.get(`/api/v2/roles/${roleId}/users${query}`, 200)).body
}

function user(id: string) {
  return { body: { data: { id, type: 'users' } } }
}

function emails({ data }: { data: { attributes: { email: string } }[] }): string[] {
  return data.map(({ attributes }) => attributes.email)
}

test('users are added and removed, and each answer is the list of members after it', async () => {
  const id = await role('Team', ['notes_write'])
  const path = `/api/v2/roles/${id}/users`
  const { userId } = await callers.make({})
  const added = (await admin.post(path, 200, user(userId.toUpperCase()))).body
  assert.deepEqual(
    added.data.map((one: { id: string }) => one.id),
    [userId],
  )
  assert.deepEqual(added.meta.page, { total_count: 1, total_filtered_count: 1 })
  assert.deepEqual(added.data[0].relationships.roles.data, [{ id, type: 'roles' }])
  assert.deepEqual(
    added.included.map((one: { type: string }) => one.type),
    ['orgs', 'roles', 'permissions', 'permissions', 'permissions', 'permissions'],
  )
  assert.equal(added.included[1].attributes.user_count, 1)
  assert.deepEqual((await admin.post(path, 200, user(userId))).body, added)
  assert.deepEqual(await members(id), added)
  assert.equal((await admin.get(`/api/v2/roles/${id}`, 200)).body.data.attributes.user_count, 1)
  const removed = (await admin.delete(path, 200, user(userId))).body
  assert.deepEqual([removed.data, removed.meta.page], [[], { total_count: 0, total_filtered_count: 0 }])
  assert.deepEqual((await admin.delete(path, 200, user(userId))).body, removed)
  assert.equal((await admin.get(`/api/v2/roles/${id}`, 200)).body.data.attributes.user_count, 0)
})

test('a membership acts on the next request of the user, and so does its end', async () => {
  const id = await role('Auditors', ['api_keys_read'])
  const { userId, client: member } = await callers.make({})
  await member.get('/api/v2/api_keys', 403)
  await admin.post(`/api/v2/roles/${id}/users`, 200, user(userId))
  await member.get('/api/v2/api_keys', 200)
  await admin.delete(`/api/v2/roles/${id}/users`, 200, user(userId))
  await member.get('/api/v2/api_keys', 403)
})

test('the list of members is sorted, filtered and paged', async () => {
  const id = await role('Crowd')
  const made: UserId[] = []
  for (const name of ['b', 'A', undefined, 'c']) {
    const { userId } = await callers.make({ name, email: `crowd-${made.length + 1}@example.org` })
    made.push(userId)
    await admin.post(`/api/v2/roles/${id}/users`, 200, user(userId))
  }
  const [b, a, nobody, c] = ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'].map((local) => `${local}@example.org`)
  assert.deepEqual(emails(await members(id)), [a, b, c, nobody])
  assert.deepEqual(emails(await members(id, '?sort=-name')), [nobody, c, b, a])
  assert.deepEqual(emails(await members(id, '?sort=-email')), [c, nobody, a, b])
  const page = await members(id, '?page[size]=3&page[number]=1&filter=+CROWD+')
  assert.deepEqual([emails(page), page.meta.page], [[nobody], { total_count: 4, total_filtered_count: 4 }])
  const filtered = await members(id, '?filter=crowd-2')
  assert.deepEqual([emails(filtered), filtered.meta.page], [[a], { total_count: 4, total_filtered_count: 1 }])
  await callers.users.disable(callers.operator, { userId: made[3] as UserId })
  assert.deepEqual(emails(await members(id, '?sort=-status'))[0], c)
  assert.equal((await members(id)).meta.page.total_count, 4)
  await admin.get(`/api/v2/roles/${id}/users?sort=title`, 400)
  await admin.get(`/api/v2/roles/${id}/users?page[size]=101`, 400)
})

test('unknown roles and users are 404, and a body without type or id is 400', async () => {
  const id = await role('Strict')
  const { userId } = await callers.make({})
  await admin.get(`/api/v2/roles/${newId()}/users`, 404)
  for (const method of ['POST', 'DELETE']) {
    const path = `/api/v2/roles/${id}/users`
    await admin.call(method, `/api/v2/roles/${newId()}/users`, 404, user('nonsense'))
    for (const unknown of [newId(), 'nonsense']) {
      const { errors } = (await admin.call(method, path, 404, user(unknown))).body
      assert.deepEqual(errors, [`User ${unknown} not found`])
    }
    for (const data of [{ id: userId }, { type: 'users' }, { id: userId, type: 'roles' }, [{ id: userId }]]) {
      await admin.call(method, path, 400, { body: { data } })
    }
  }
})

test('a Disabled user can be added and removed, an anonymized one cannot', async () => {
  const id = await role('Leavers')
  const path = `/api/v2/roles/${id}/users`
  const { userId } = await callers.make({})
  await callers.users.disable(callers.operator, { userId })
  assert.equal((await admin.post(path, 200, user(userId))).body.data[0].attributes.status, 'Disabled')
  await admin.delete(path, 200, user(userId))
  await callers.db.write((tx) =>
    tx.query.updateTable('users').set({ anonymized_at: 1 }).where('id', '=', userId).execute(),
  )
  const { errors } = (await admin.post(path, 400, user(userId))).body
  assert.deepEqual(errors, [`User ${userId} has been anonymized`])
})

test('nobody gives a role that can do more than they may, and the last administrator stays one', async () => {
  const admins = await adminRoleId()
  const { client: manager, userId } = await callers.make({ permissions: ['user_access_manage'] })
  const path = `/api/v2/roles/${admins}/users`
  assert.match(
    (await manager.post(path, 403, user(userId))).body.errors[0],
    /^You cannot grant a permission you do not/,
  )
  const { errors } = (await manager.delete(path, 403, user(administratorId))).body
  assert.deepEqual(errors, ['The last administrator cannot be removed'])
  const second = await callers.make({ roles: ['admin'] })
  await second.client.delete(path, 200, user(administratorId))
  await second.client.post(path, 200, user(administratorId))
  await admin.delete(path, 200, user(second.userId))
  const { client: reader } = await callers.make({ roles: ['read_only'] })
  await reader.get(path, 200)
  await reader.post(path, 403, user(userId))
  await reader.delete(path, 403, user(userId))
})

test('deleting a role takes it from its members', async () => {
  const id = await role('Passing', ['api_keys_read'])
  const { userId, client: member } = await callers.make({})
  await admin.post(`/api/v2/roles/${id}/users`, 200, user(userId))
  await member.get('/api/v2/api_keys', 200)
  await admin.delete(`/api/v2/roles/${id}`, 204)
  await member.get('/api/v2/api_keys', 403)
  await admin.get(`/api/v2/roles/${id}/users`, 404)
  const rows = await callers.db.query.selectFrom('user_roles').selectAll().where('user_id', '=', userId).execute()
  assert.deepEqual(rows, [])
})
