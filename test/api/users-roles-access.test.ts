import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { ADMIN_ROLE, body, createRole, managedRole, references } from './roles-api.ts'

let server: TestServer
let callers: Callers
let admin: TestClient
before(async () => {
  server = await startServer({ mode: 'dev' })
  callers = await openCallers(server)
  admin = client(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

describe('who may touch roles', () => {
  test('readers read and do not write; whoever may not do it learns nothing about ids', async () => {
    const role = await createRole(admin, 'Seen')
    const { client: reader } = await callers.make({ roles: ['read_only'] })
    for (const path of ['/roles', '/roles/templates', `/roles/${role.id}`, `/roles/${role.id}/permissions`]) {
      await reader.get(`/api/v2${path}`, 200)
    }
    await reader.get('/api/v2/permissions', 200)
    for (const id of [role.id, newId()]) {
      for (const [method, path] of [
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/clone'],
        ['POST', '/permissions'],
        ['DELETE', '/permissions'],
      ]) {
        const { errors } = (await reader.call(method as string, `/api/v2/roles/${id}${path}`, 403)).body
        assert.deepEqual(errors, ['Missing permission: user_access_manage'])
      }
    }
    await reader.post('/api/v2/roles', 403)
    const { client: nobody } = await callers.make({})
    for (const path of ['/roles', '/permissions', `/roles/${newId()}`]) await nobody.get(`/api/v2${path}`, 403)
  })

  test('nobody makes, edits or clones a role into more than they may do themselves', async () => {
    const { client: manager } = await callers.make({ permissions: ['user_access_manage', 'notes_write'] })
    const refusal = (name: string) => [`You cannot grant a permission you do not have: ${name}`]
    const role = (await manager.post('/api/v2/roles', 200, body({ name: 'Made' }, references(['notes_write'])))).body
      .data
    const path = `/api/v2/roles/${role.id}`
    const reference = (name: string) => ({ body: { data: { id: permissionId(name), type: 'permissions' } } })
    const create = await manager.post('/api/v2/roles', 403, body({ name: 'x' }, references(['admin'])))
    const update = await manager.patch(path, 403, body({ name: 'y' }, references(['audit_logs_read']), { id: role.id }))
    const add = await manager.post(`${path}/permissions`, 403, reference('org_management'))
    assert.deepEqual(create.body.errors, refusal('admin'))
    assert.deepEqual(update.body.errors, refusal('audit_logs_read'))
    assert.deepEqual(add.body.errors, refusal('org_management'))
    const { id } = await managedRole(admin, ADMIN_ROLE)
    assert.match(
      (await manager.post(`/api/v2/roles/${id}/clone`, 403, body({ name: 'Mine' }))).body.errors[0],
      /^You cannot grant a permission you do not have: /,
    )
    assert.deepEqual((await manager.get(path, 200)).body.data, role)
    // What a role has already is not given by an edit that leaves it there.
    const rich = (await admin.post('/api/v2/roles', 200, body({ name: 'Rich' }, references(['audit_logs_read'])))).body
      .data
    const kept = references(['audit_logs_read', 'notes_write'])
    await manager.patch(`/api/v2/roles/${rich.id}`, 200, body({}, kept, { id: rich.id }))
  })

  test('a role that loses a permission takes it from its members at once', async () => {
    const { client: member } = await callers.make({ permissions: ['audit_logs_read', 'user_access_manage'] })
    const { data } = (await admin.get('/api/v2/roles?sort=-modified_at&page[size]=1', 200)).body
    await member.post('/api/v2/roles', 200, body({ name: 'While I may' }))
    await admin.delete(`/api/v2/roles/${data[0].id}/permissions`, 200, {
      body: { data: { id: permissionId('user_access_manage'), type: 'permissions' } },
    })
    await member.post('/api/v2/roles', 403, body({ name: 'Too late' }))
    await admin.delete(`/api/v2/roles/${data[0].id}`, 204)
    await member.get('/api/v2/roles', 403)
  })
})

describe('the catalogue', () => {
  test('lists every permission by group, then name', async () => {
    const { data, meta } = (await admin.get('/api/v2/permissions', 200)).body
    assert.equal(meta, undefined)
    assert.equal(data.length, 18)
    const keys = data.map((one: { attributes: { group_name: string; name: string } }) => [
      one.attributes.group_name,
      one.attributes.name,
    ])
    assert.deepEqual(keys, [...keys].sort())
    assert.deepEqual(data[0].id, permissionId(data[0].attributes.name))
  })
})

describe('the list of roles', () => {
  test('is sorted, filtered and paged, and counts before and after filtering', async () => {
    const ids: string[] = []
    for (const name of ['zz list b', 'ZZ list A', 'zz list ä', 'zz list %_*'])
      ids.push((await createRole(admin, name)).id)
    const list = async (query: string) => (await admin.get(`/api/v2/roles?${query}`, 200)).body
    const names = ({ data }: { data: { attributes: { name: string } }[] }) => data.map((role) => role.attributes.name)
    const all = await list('filter=ZZ+List')
    assert.deepEqual(names(all), ['zz list %_*', 'ZZ list A', 'zz list b', 'zz list ä'])
    assert.equal(all.meta.page.total_filtered_count, 4)
    assert.ok(all.meta.page.total_count > 7)
    assert.deepEqual(names(await list('filter=zz+list&sort=-name')), names(all).reverse())
    assert.deepEqual(names(await list('filter=zz+list+%25')), ['zz list %_*'])
    assert.deepEqual(names(await list('filter=+ZZ+LIST+%C3%84+')), ['zz list ä'])
    assert.deepEqual(names(await list('filter=zz%00')), [])
    assert.deepEqual(names(await list('filter=zz+list&page%5Bsize%5D=3&page%5Bnumber%5D=1')), ['zz list ä'])
    const beyond = await list('filter=zz+list&page[number]=999999999999999')
    assert.deepEqual([beyond.data, beyond.meta.page.total_filtered_count], [[], 4])
    const byIds = await list(`filter[id]=${ids[1]},${newId()},nonsense, ${ids[0]?.toUpperCase()}&sort=-modified_at`)
    assert.deepEqual(names(byIds), ['ZZ list A', 'zz list b'])
    for (const none of ['nonsense', ',']) assert.deepEqual((await list(`filter[id]=${none}`)).data, [])
    const { page } = (await list('filter[id]=+')).meta
    assert.equal(page.total_filtered_count, page.total_count, 'an empty filter is none')
    assert.equal((await list('sort=-user_count&page[size]=1')).data[0].attributes.user_count > 0, true)
  })

  test('refuses what it does not know', async () => {
    const errors = async (query: string) => (await admin.get(`/api/v2/roles?${query}`, 400)).body.errors
    assert.deepEqual(await errors('page[size]=0&page[number]=-1&sort=colour'), [
      'page[size] must be an integer from 1 to 100',
      'page[number] must be an integer of at least 0',
      'sort must be one of "name", "-name", "modified_at", "-modified_at", "user_count", "-user_count"',
    ])
    for (const query of ['page[size]=101', 'page[size]=1e1', 'page[size]=', 'sort=', 'sort=name&sort=name']) {
      await errors(query)
    }
  })
})
