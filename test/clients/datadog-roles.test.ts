import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { assertFails, type Client, connect, skipped } from './datadog-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'
const ADMIN_ROLE = 'Platform Admin Role'
const BASE = ['notes_read', 'projects_read', 'user_access_read']

interface Named {
  id: string
  attributes: { name: string }
}

describe('the published client, on roles', { skip: skipped }, () => {
  let server: TestServer
  let sdk: Client
  let permissionIds: Map<string, string>
  before(async () => {
    server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
    sdk = connect(server)
    const { data } = await sdk.roles.listPermissions()
    permissionIds = new Map(data.map(({ id, attributes }: Named) => [attributes.name, id]))
  })
  after(() => server.stop())

  const permission = (name: string) => ({ id: permissionIds.get(name) as string, type: 'permissions' })
  const names = (items: Named[]) => items.map(({ attributes }) => attributes.name).sort()

  async function create(name: string, permissions: string[] = [], attributes: object = {}) {
    const relationships = { permissions: { data: permissions.map(permission) } }
    const body = { data: { type: 'roles', attributes: { name, ...attributes }, relationships } }
    return (await sdk.roles.createRole({ body })).data
  }

  async function createUser(email: string): Promise<string> {
    return (await sdk.users.createUser({ body: { data: { type: 'users', attributes: { email } } } })).data.id
  }

  test('knows every permission', () => {
    assert.equal(permissionIds.size, 18)
    assert.ok(permissionIds.has('user_access_manage'))
  })

  test('creates, reads, changes, clones and deletes a role', async () => {
    const role = await create('Writers', ['notes_write'], { receivesPermissionsFrom: [ADMIN_ROLE] })
    assert.equal(role.attributes.name, 'Writers')
    assert.ok(role.attributes.createdAt instanceof Date)
    const roleId = role.id
    const read = (await sdk.roles.getRole({ roleId })).data
    assert.deepEqual(read.attributes.receivesPermissionsFrom, [ADMIN_ROLE])
    assert.equal(read.attributes.userCount, 0)
    assert.equal(read.relationships.permissions.data.length, BASE.length + 1)

    const relationships = { permissions: { data: [permission('projects_write')] } }
    const attributes = { name: 'Project writers', receivesPermissionsFrom: [] }
    const body = { data: { type: 'roles', id: roleId, attributes, relationships } }
    const changed = (await sdk.roles.updateRole({ roleId, body })).data
    assert.equal(changed.attributes.name, 'Project writers')
    assert.deepEqual(names((await sdk.roles.listRolePermissions({ roleId })).data), [...BASE, 'projects_write'].sort())

    const wish = { data: { type: 'roles', attributes: { name: 'More project writers' } } }
    const clone = (await sdk.roles.cloneRole({ roleId, body: wish })).data
    assert.notEqual(clone.id, roleId)
    assert.equal(clone.attributes.name, 'More project writers')
    assert.deepEqual(clone.relationships, changed.relationships ?? read.relationships)
    await assertFails(
      sdk.roles.cloneRole({ roleId, body: wish }),
      409,
      'A role named "More project writers" already exists',
    )

    assert.equal(await sdk.roles.deleteRole({ roleId }), undefined)
    await assertFails(sdk.roles.deleteRole({ roleId }), 404, `Role ${roleId} not found`)
  })

  test('gives a role permissions and takes them, with a body in DELETE', async () => {
    const roleId = (await create('Changing')).id
    const body = { data: permission('audit_logs_read') }
    assert.deepEqual(names((await sdk.roles.addPermissionToRole({ roleId, body })).data), ['audit_logs_read', ...BASE])
    assert.deepEqual(names((await sdk.roles.removePermissionFromRole({ roleId, body })).data), BASE)
    const base = { data: permission('notes_read') }
    await assertFails(sdk.roles.removePermissionFromRole({ roleId, body: base }), 400, /belongs to every role/)
    await assertFails(sdk.roles.addPermissionToRole({ roleId: NOBODY, body }), 404)
    await assertFails(
      sdk.roles.addPermissionToRole({ roleId, body: { data: { id: NOBODY, type: 'permissions' } } }),
      404,
    )
  })

  test('puts users into a role, lists them and takes them out', async () => {
    const roleId = (await create('Members')).id
    const ids = []
    for (const email of ['one@example.org', 'two@example.org', 'three@example.org']) ids.push(await createUser(email))
    for (const id of ids) await sdk.roles.addUserToRole({ roleId, body: { data: { id, type: 'users' } } })
    const all = await sdk.roles.listRoleUsers({ roleId, sort: '-email', pageSize: 2 })
    const emails = all.data.map(({ attributes }: { attributes: { email: string } }) => attributes.email)
    assert.deepEqual(emails, ['two@example.org', 'three@example.org'])
    assert.deepEqual([all.meta.page.totalCount, all.meta.page.totalFilteredCount], [3, 3])
    assert.ok(all.included.some((item: { type: string; id: string }) => item.id === roleId))
    assert.equal((await sdk.roles.getRole({ roleId })).data.attributes.userCount, 3)
    for (const [at, id] of ids.entries()) {
      const left = await sdk.roles.removeUserFromRole({ roleId, body: { data: { id, type: 'users' } } })
      assert.equal(left.data.length, 2 - at)
    }
    const stranger = { data: { id: NOBODY, type: 'users' } }
    await assertFails(sdk.roles.addUserToRole({ roleId, body: stranger }), 404, `User ${NOBODY} not found`)
    await assertFails(sdk.roles.listRoleUsers({ roleId: NOBODY }), 404)
  })

  test('lists roles by name, by id, sorted and page by page, and the templates', async () => {
    const [first, second] = [await create('Listed A'), await create('Listed B')]
    for (const sort of ['name', '-name', 'modified_at', '-modified_at', 'user_count', '-user_count']) {
      const { data, meta } = await sdk.roles.listRoles({ sort, filter: 'listed', pageSize: 1, pageNumber: 0 })
      assert.equal(data.length, 1)
      assert.equal(meta.page.totalFilteredCount, 2)
    }
    const byId = await sdk.roles.listRoles({ filterId: `${first.id},${second.id},${NOBODY}` })
    assert.deepEqual(names(byId.data), ['Listed A', 'Listed B'])
    assert.deepEqual(names((await sdk.roles.listRoleTemplates()).data), [
      ADMIN_ROLE,
      'Platform Read Only Role',
      'Platform Standard Role',
    ])
  })

  test('throws its own exception with the status and the texts of every refusal', async () => {
    const admin = (await sdk.roles.listRoles({ filter: ADMIN_ROLE })).data[0].id
    const rename = (id: string, bodyId = id) => ({
      roleId: id,
      body: { data: { type: 'roles', id: bodyId, attributes: { name: 'Renamed' } } },
    })
    await assertFails(create(' '), 400)
    await assertFails(create(ADMIN_ROLE), 400, 'Role name is reserved')
    await assertFails(create('x', [], { receivesPermissionsFrom: ['Owners'] }), 400)
    await assertFails(sdk.roles.updateRole(rename(admin)), 403, 'Managed roles cannot be changed')
    await assertFails(sdk.roles.deleteRole({ roleId: admin }), 403, 'Managed roles cannot be changed')
    await assertFails(sdk.roles.updateRole(rename(NOBODY)), 404, `Role ${NOBODY} not found`)
    await assertFails(sdk.roles.updateRole(rename(admin, NOBODY)), 422)
    await assertFails(sdk.roles.getRole({ roleId: NOBODY }), 404, `Role ${NOBODY} not found`)
    await assertFails(sdk.roles.listRolePermissions({ roleId: NOBODY }), 404)
    await assertFails(
      sdk.roles.cloneRole({ roleId: NOBODY, body: { data: { type: 'roles', attributes: { name: 'x' } } } }),
      404,
    )
    const self = (await sdk.users.getCurrentUser()).data.id
    const last = { roleId: admin, body: { data: { id: self, type: 'users' } } }
    await assertFails(sdk.roles.removeUserFromRole(last), 403, 'The last administrator cannot be removed')
  })
})
