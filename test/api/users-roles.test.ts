import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { ADMIN_ROLE, body, createRole, managedRole, references } from './roles-api.ts'

const BASE = ['notes_read', 'projects_read', 'user_access_read'].map(permissionId)

let server: TestServer
let admin: TestClient
before(async () => {
  server = await startServer({ mode: 'dev' })
  admin = client(server)
})
after(() => server.stop())

function held(role: { relationships: { permissions: { data: { id: string }[] } } }): string[] {
  return role.relationships.permissions.data.map(({ id }) => id)
}

describe('creating a role', () => {
  test('answers 200 with the trimmed name, the base permissions and an ETag', async () => {
    const answer = await admin.post('/api/v2/roles', 200, body({ name: '  Writers ' }, references(['notes_write'])))
    const { data, included } = answer.body
    assert.equal(included, undefined)
    assert.equal(data.type, 'roles')
    assert.deepEqual(
      { ...data.attributes, created_at: '', modified_at: '' },
      {
        name: 'Writers',
        created_at: '',
        modified_at: '',
        receives_permissions_from: [],
        user_count: 0,
        managed: false,
      },
    )
    assert.match(data.attributes.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(new Set(held(data)), new Set([...BASE, permissionId('notes_write')]))
    assert.ok(answer.headers.get('etag'))
    const got = await admin.get(`/api/v2/roles/${data.id.toUpperCase()}`, 200)
    assert.deepEqual(got.body.data, data)
    assert.equal(got.headers.get('etag'), answer.headers.get('etag'))
  })

  test('lets the type be left out, two roles have one name, and duplicates collapse', async () => {
    const attributes = { name: 'Writers', receives_permissions_from: [ADMIN_ROLE, ADMIN_ROLE], user_count: 7 }
    const { data } = (await admin.post('/api/v2/roles', 200, { body: { data: { attributes, extra: 1 } } })).body
    assert.deepEqual(data.attributes.receives_permissions_from, [ADMIN_ROLE])
    assert.equal(data.attributes.user_count, 0)
  })

  test('reports every problem of a body at once and creates nothing', async () => {
    const before = (await admin.get('/api/v2/roles', 200)).body.meta.page.total_count
    const problems = async (value: unknown) =>
      (await admin.post('/api/v2/roles', 400, { body: value })).body.errors as string[]
    assert.deepEqual(await problems({}), ['data is required'])
    assert.deepEqual(await problems({ data: { type: 'users', attributes: { receives_permissions_from: 'x' } } }), [
      'data.type must be "roles"',
      'data.attributes.name is required',
      'data.attributes.receives_permissions_from must be an array',
    ])
    for (const name of ['', ' \t ', '\u00a0']) {
      assert.deepEqual(await problems(body({ name }).body), ['data.attributes.name must not be empty'])
    }
    assert.deepEqual(await problems(body({ name: 'x'.repeat(256) }).body), [
      'data.attributes.name must have at most 255 characters',
    ])
    assert.match((await problems(body({ name: 'a\u0000b' }).body))[0] as string, /control characters/)
    const unknown = newId()
    const data = [{ id: unknown, type: 'permissions' }, { id: 'nonsense' }]
    assert.deepEqual(
      await problems(body({ name: ADMIN_ROLE, receives_permissions_from: ['Owners'] }, { permissions: { data } }).body),
      [
        'Role name is reserved',
        'receives_permissions_from: "Owners" is not a managed role',
        `Permission ${unknown} not found`,
        'Permission nonsense not found',
      ],
    )
    assert.deepEqual(await problems(body({ name: 'x' }, { permissions: { data: [{ type: 'permissions' }] } }).body), [
      'data.relationships.permissions.data[0].id is required',
    ])
    assert.equal((await admin.get('/api/v2/roles', 200)).body.meta.page.total_count, before)
  })

  test('keeps any name as it was typed, and finds it again in any case', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((name) => name.trim() !== '')
    await fc.assert(
      fc.asyncProperty(text, async (name) => {
        if (/[\p{Cc}\p{Cs}]/u.test(name)) return
        const { id, attributes } = await createRole(admin, name)
        assert.equal(attributes.name, name.trim())
        const filter = encodeURIComponent(name.toUpperCase().toLowerCase())
        const found = (await admin.get(`/api/v2/roles?filter=${filter}&filter[id]=${id}`, 200)).body.data
        const isFoldable = name.toUpperCase().toLowerCase() === name.toLowerCase()
        if (isFoldable) assert.equal(found.length, 1)
      }),
      { numRuns: 25 },
    )
  })
})

describe('changing a role', () => {
  test('replaces its permissions, keeps the base ones, and leaves alone what is not named', async () => {
    const role = await createRole(admin, 'Before', ['notes_write', 'callbacks_read'])
    const path = `/api/v2/roles/${role.id}`
    const { data } = (
      await admin.patch(path, 200, body({ name: ' After ' }, references(['audit_logs_read']), { id: role.id }))
    ).body
    assert.equal(data.attributes.name, 'After')
    assert.deepEqual(new Set(held(data)), new Set([...BASE, permissionId('audit_logs_read')]))
    const renamed = (
      await admin.patch(path, 200, body({ receives_permissions_from: [ADMIN_ROLE] }, undefined, { id: role.id }))
    ).body.data
    assert.deepEqual(
      [renamed.attributes.name, renamed.attributes.receives_permissions_from, held(renamed)],
      ['After', [ADMIN_ROLE], held(data)],
    )
    const emptied = (await admin.patch(path, 200, body({}, references([]), { id: role.id }))).body.data
    assert.deepEqual(new Set(held(emptied)), new Set(BASE))
  })

  test('changes nothing, not even the name, when a permission is unknown', async () => {
    const role = await createRole(admin, 'Steady', ['notes_write'])
    const path = `/api/v2/roles/${role.id}`
    const unknown = { permissions: { data: [{ id: newId(), type: 'permissions' }] } }
    await admin.patch(path, 400, body({ name: 'Moved' }, unknown, { id: role.id }))
    await admin.patch(path, 400, body({ name: 'Platform Standard Role' }, references([]), { id: role.id }))
    assert.deepEqual((await admin.get(path, 200)).body.data, role)
  })

  test('does not move the time of change when nothing changes', async () => {
    const role = await createRole(admin, 'Still', ['notes_write'])
    const answer = await admin.patch(
      `/api/v2/roles/${role.id}`,
      200,
      body({ name: 'Still' }, references(['notes_write']), { id: role.id }),
    )
    assert.deepEqual(answer.body.data, role)
  })

  test('wants the id of the path in the body: 422 for another, 400 for none, 404 when there is no such role', async () => {
    const role = await createRole(admin, 'Named')
    const path = `/api/v2/roles/${role.id}`
    for (const id of [newId(), 'nonsense', '']) {
      const { errors } = (await admin.patch(path, 422, body({ name: 'x' }, undefined, { id }))).body
      assert.deepEqual(errors, ['The id in the body does not match the id in the path'])
    }
    const { errors } = (await admin.patch(path, 400, { body: { data: { id: 7 } } })).body
    assert.deepEqual(errors, ['data.type is required', 'data.attributes is required', 'data.id must be a string'])
    for (const id of [newId(), 'nonsense']) {
      const answer = await admin.patch(`/api/v2/roles/${id}`, 404, body({ name: 'x' }, undefined, { id }))
      assert.deepEqual(answer.body.errors, [`Role ${id} not found`])
    }
    assert.equal(
      (await admin.patch(path, 200, body({}, undefined, { id: role.id.toUpperCase() }))).body.data.id,
      role.id,
    )
  })

  test('takes If-Match, and answers 412 to whoever saw an older version', async () => {
    const role = await createRole(admin, 'Versioned')
    const path = `/api/v2/roles/${role.id}`
    const etag = (await admin.get(path, 200)).headers.get('etag') as string
    const update = (name: string, match: string) => ({
      ...body({ name }, undefined, { id: role.id }),
      headers: { 'if-match': match },
    })
    const answer = await admin.patch(path, 200, update('Second', etag))
    assert.notEqual(answer.headers.get('etag'), etag)
    const { errors } = (await admin.patch(path, 412, update('Third', etag))).body
    assert.equal(errors.length, 1)
    await admin.patch(path, 200, update('Fourth', `"nothing", ${answer.headers.get('etag')}`))
    await admin.patch(path, 200, update('Fifth', '*'))
    assert.equal((await admin.get(path, 200)).body.data.attributes.name, 'Fifth')
    await admin.delete(path, 412, { headers: { 'if-match': etag } })
    const current = (await admin.get(path, 200)).headers.get('etag') as string
    await admin.delete(path, 204, { headers: { 'if-match': current } })
  })
})

describe('a managed role', () => {
  test('cannot be changed or deleted in any way', async () => {
    const role = await managedRole(admin, 'Platform Read Only Role')
    const path = `/api/v2/roles/${role.id}`
    const permission = (name: string) => ({ body: { data: { id: permissionId(name), type: 'permissions' } } })
    const answers = [
      await admin.patch(path, 403, body({ name: 'Mine' }, undefined, { id: role.id })),
      await admin.patch(path, 403, body({}, references(['notes_write']), { id: role.id })),
      await admin.delete(path, 403),
      await admin.post(`${path}/permissions`, 403, permission('notes_write')),
      await admin.delete(`${path}/permissions`, 403, permission('callbacks_read')),
    ]
    for (const answer of answers) assert.deepEqual(answer.body.errors, ['Managed roles cannot be changed'])
    assert.deepEqual((await admin.get(path, 200)).body.data, role)
  })

  test('can be cloned; the clone receives from it unless the request says otherwise', async () => {
    const role = await managedRole(admin, 'Platform Standard Role')
    const clone = async (attributes: object) =>
      (await admin.post(`/api/v2/roles/${role.id}/clone`, 200, body(attributes))).body.data
    const copy = await clone({ name: ' Standard copy ' })
    assert.deepEqual(held(copy), held(role))
    assert.equal(copy.attributes.managed, false)
    assert.equal(copy.attributes.name, 'Standard copy')
    assert.deepEqual(copy.attributes.receives_permissions_from, ['Platform Standard Role'])
    const alone = await clone({ name: 'Alone', receives_permissions_from: [] })
    assert.deepEqual(alone.attributes.receives_permissions_from, [])
    const second = (await admin.post(`/api/v2/roles/${copy.id}/clone`, 200, body({ name: 'Copy of copy' }))).body.data
    assert.deepEqual(second.attributes.receives_permissions_from, ['Platform Standard Role'])
  })

  test('is offered as a template', async () => {
    const { data } = (await admin.get('/api/v2/roles/templates', 200)).body
    assert.deepEqual(
      data.map((role: { type: string; attributes: { name: string } }) => [role.type, role.attributes.name]),
      [
        ['roles', ADMIN_ROLE],
        ['roles', 'Platform Standard Role'],
        ['roles', 'Platform Read Only Role'],
      ],
    )
    assert.ok(data.every((role: { attributes: { description: string } }) => role.attributes.description.length > 0))
  })
})

describe('cloning', () => {
  test('refuses a name that exists, compared exactly after trimming', async () => {
    const role = await createRole(admin, 'Original', ['notes_write'])
    const path = `/api/v2/roles/${role.id}/clone`
    const { errors } = (await admin.post(path, 409, body({ name: ' Original ' }))).body
    assert.deepEqual(errors, ['A role named "Original" already exists'])
    await admin.post(path, 200, body({ name: 'original' }))
    await admin.post(path, 400, body({ name: '  ' }))
    const managed = (await admin.post(path, 409, body({ name: ADMIN_ROLE }))).body
    assert.deepEqual(managed.errors, [`A role named "${ADMIN_ROLE}" already exists`])
    await admin.post(path, 400, { body: { data: { attributes: { name: 'No type' } } } })
    await admin.post(`/api/v2/roles/${newId()}/clone`, 404, body({ name: 'Of nothing' }))
    assert.deepEqual((await admin.get('/api/v2/roles?filter=of+nothing', 200)).body.data, [])
  })
})

describe('the permissions of a role', () => {
  const reference = (name: string) => ({ body: { data: { id: permissionId(name), type: 'permissions' } } })

  test('are listed by name, given and taken, and asking twice changes nothing', async () => {
    const role = await createRole(admin, 'Holder')
    const path = `/api/v2/roles/${role.id}/permissions`
    const names = ({ body }: { body: { data: { attributes: { name: string } }[] } }) =>
      body.data.map(({ attributes }) => attributes.name)
    const base = ['notes_read', 'projects_read', 'user_access_read']
    assert.deepEqual(names(await admin.get(path, 200)), base)
    const given = ['audit_logs_read', ...base]
    assert.deepEqual(names(await admin.post(path, 200, reference('audit_logs_read'))), given)
    assert.deepEqual(names(await admin.post(path, 200, reference('audit_logs_read'))), given)
    const { modified_at: changed } = (await admin.get(`/api/v2/roles/${role.id}`, 200)).body.data.attributes
    assert.deepEqual(names(await admin.delete(path, 200, reference('notes_write'))), given)
    assert.equal((await admin.get(`/api/v2/roles/${role.id}`, 200)).body.data.attributes.modified_at, changed)
    assert.deepEqual(names(await admin.delete(path, 200, reference('audit_logs_read'))), base)
    const { data } = (await admin.get(path, 200)).body
    assert.deepEqual(Object.keys(data[0].attributes).sort(), [
      'created',
      'description',
      'display_name',
      'display_type',
      'group_name',
      'name',
      'name_aliases',
      'restricted',
    ])
  })

  test('always hold the base ones', async () => {
    const role = await createRole(admin, 'Based')
    const { errors } = (await admin.delete(`/api/v2/roles/${role.id}/permissions`, 400, reference('notes_read'))).body
    assert.deepEqual(errors, ['Permission notes_read belongs to every role'])
  })

  test('answer 404 for an unknown role or permission and 400 for a body without type or id', async () => {
    const role = await createRole(admin, 'Strict')
    const path = `/api/v2/roles/${role.id}/permissions`
    for (const method of ['POST', 'DELETE']) {
      const nobody = `/api/v2/roles/${newId()}/permissions`
      await admin.call(method, nobody, 404, reference('notes_write'))
      const id = newId()
      const { errors } = (await admin.call(method, path, 404, { body: { data: { id, type: 'permissions' } } })).body
      assert.deepEqual(errors, [`Permission ${id} not found`])
      const id2 = permissionId('notes_write')
      for (const data of [{ id: id2 }, { type: 'permissions' }, { id: id2, type: 'roles' }, [], null]) {
        await admin.call(method, path, 400, { body: { data } })
      }
      await admin.call(method, path, 400)
    }
    await admin.get('/api/v2/roles/nonsense/permissions', 404)
  })
})

describe('deleting a role', () => {
  test('answers 204 without a body, then 404', async () => {
    const role = await createRole(admin, 'Short-lived')
    const answer = await admin.delete(`/api/v2/roles/${role.id}`, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('content-type'), null)
    assert.deepEqual((await admin.delete(`/api/v2/roles/${role.id}`, 404)).body.errors, [`Role ${role.id} not found`])
    await admin.get(`/api/v2/roles/${role.id}`, 404)
  })
})
