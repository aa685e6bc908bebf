import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const PROJECTS = '/v2/projects'
const NOBODY = '018f0000-0000-7000-8000-000000000000'

let server: TestServer
let admin: TestClient
before(async () => {
  server = await startServer()
  admin = client(server)
})
after(() => server.stop())

interface Item {
  external_id: string
  name: string
  is_default: boolean
  [member: string]: unknown
}

async function create(name: string, more: object = {}): Promise<Item> {
  return (await admin.post(PROJECTS, 201, { body: { name, ...more } })).body.new_project
}

async function names(): Promise<string[]> {
  return (await admin.get(PROJECTS, 200)).body.projects.map(({ name }: Item) => name)
}

async function mainProject(): Promise<Item> {
  const { body } = await admin.get(PROJECTS, 200)
  return body.projects.find(({ name }: Item) => name === 'main')
}

async function detail(answer: Promise<{ body: { detail: string } }>): Promise<string> {
  return (await answer).body.detail
}

describe('a new server', () => {
  test('has one project, the default one, with and without a slash at the end', async () => {
    for (const path of [PROJECTS, `${PROJECTS}/`]) {
      const { body } = await admin.get(path, 200)
      assert.equal(body.default_project, 'main')
      const { id, external_id, created_at, updated_at, ...item } = body.projects[0]
      assert.ok(Number.isInteger(id) && /^[0-9a-f-]{36}$/.test(external_id) && created_at === updated_at)
      assert.deepEqual(item, {
        name: 'main',
        path: '/main',
        is_default: true,
        display_name: null,
        is_private: false,
        permalink: 'main',
        is_active: true,
        note_count: 0,
      })
    }
  })
})

describe('creating a project', () => {
  test('answers 201 with where it is, and the same request again 200', async () => {
    const { body, headers } = await admin.post(`${PROJECTS}/`, 201, { body: { name: 'Field Notes', path: '/field' } })
    assert.deepEqual([body.status, body.default, body.old_project], ['success', false, null])
    assert.equal(body.new_project.permalink, 'field-notes')
    assert.equal(headers.get('location'), `${PROJECTS}/${body.new_project.external_id}`)
    assert.deepEqual((await admin.get(headers.get('location') as string, 200)).body, body.new_project)
    const again = await admin.post(PROJECTS, 200, { body: { name: 'Field Notes', path: '/field/' } })
    assert.match(again.body.message, /already exists/)
    assert.deepEqual(again.body.new_project, body.new_project)
    await admin.post(PROJECTS, 200, { body: { name: 'Field Notes' } })
  })

  test('is refused for a name that is taken, whatever its case or punctuation', async () => {
    await create('Garden Plan')
    for (const name of ['garden plan', 'GARDEN PLAN', 'garden-plan', 'Garden_Plan']) {
      const text = await detail(admin.post(PROJECTS, 400, { body: { name } }))
      assert.match(text, /A project named 'Garden Plan' already exists/)
    }
    await admin.post(PROJECTS, 400, { body: { name: 'Garden Plan', path: '/elsewhere' } })
  })

  test('is refused for a path that is the path of another project, inside it or around it', async () => {
    await create('Outer', { path: '/outer/inner' })
    for (const path of ['/outer/inner', '/outer/inner/deep', '/outer', '/outer/inner/../inner']) {
      await admin.post(PROJECTS, 400, { body: { name: 'Nested', path } })
    }
    assert.equal((await create('Beside', { path: '/outer/inner2' })).path, '/outer/inner2')
  })

  test('gives a project that asks for no path one of its own', async () => {
    await create('Occupier', { path: '/free/inside' })
    assert.match((await create('free')).path as string, /^\/free-[0-9a-f]{12}$/)
  })

  test('makes it the default when asked, and says so', async () => {
    const { body } = await admin.post(PROJECTS, 201, { body: { name: 'Chosen', set_default: true } })
    assert.deepEqual([body.default, body.new_project.is_default], [true, true])
    assert.equal((await admin.get(PROJECTS, 200)).body.default_project, 'Chosen')
    await admin.put(`${PROJECTS}/${(await mainProject()).external_id}/default`, 200)
  })

  test('is 422 for a body that is none, with every problem named', async () => {
    for (const body of [{}, { name: '' }, { name: '   ' }, { name: 'x'.repeat(101) }, { name: 7 }, { name: 'a\nb' }]) {
      const answer = await admin.post(PROJECTS, 422, { body })
      assert.match(answer.body.detail, /name/)
      assert.ok(Array.isArray(answer.body.errors))
    }
    await admin.post(PROJECTS, 422, { body: { name: 'ok', set_default: 'perhaps' } })
    assert.ok(!(await names()).includes('ok'))
  })

  test('happens once for one Idempotency-Key', async () => {
    const request = { body: { name: 'Once' }, headers: { 'idempotency-key': 'project-once' } }
    const first = await admin.post(PROJECTS, 201, request)
    const second = await admin.post(PROJECTS, 201, request)
    assert.deepEqual(second.body, first.body)
  })

  test('of one name by many at a time succeeds once', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const response = await fetch(new URL(PROJECTS, server.url), {
          method: 'POST',
          headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Contested' }),
        })
        return response.status
      }),
    )
    assert.deepEqual(statuses.sort(), [...Array(15).fill(200), 201])
  })
})

describe('a project', () => {
  test('is found by its id in any case and without hyphens, and by nothing else', async () => {
    const { external_id: id } = await create('Findable')
    for (const form of [id.toUpperCase(), id.replaceAll('-', '')]) {
      assert.equal((await admin.get(`${PROJECTS}/${form}`, 200)).body.external_id, id)
    }
    for (const form of ['Findable', 'findable', '1', NOBODY, '%00', `${'x'.repeat(2_000)}`]) {
      assert.match(await detail(admin.get(`${PROJECTS}/${form}`, 404)), /not found/)
    }
    assert.equal(
      await detail(admin.get(`${PROJECTS}/${NOBODY}`, 404)),
      `Project not found: no project has the external_id '${NOBODY}'`,
    )
  })

  test('is renamed under the same id; what it was is told', async () => {
    const { external_id: id } = await create('Old Name')
    const { body } = await admin.patch(`${PROJECTS}/${id}`, 200, {
      body: { name: 'New Name', path: '/renamed', is_active: false },
    })
    assert.deepEqual([body.old_project.name, body.old_project.is_active], ['Old Name', true])
    assert.deepEqual(
      [body.new_project.name, body.new_project.permalink, body.new_project.path, body.new_project.is_active],
      ['New Name', 'new-name', '/renamed', false],
    )
    assert.equal(body.new_project.external_id, id)
    await create('Old Name')
    assert.match(await detail(admin.patch(`${PROJECTS}/${id}`, 400, { body: { name: 'old-name' } })), /already exists/)
    assert.match(await detail(admin.patch(`${PROJECTS}/${id}`, 400, { body: { path: 'notes' } })), /must be absolute/)
    await admin.patch(`${PROJECTS}/${id}`, 400, { body: { path: '/main/x' } })
    await admin.patch(`${PROJECTS}/${id}`, 200, { body: { name: 'NEW NAME' } })
    await admin.patch(`${PROJECTS}/${id}`, 200, { body: {} })
    await admin.patch(`${PROJECTS}/${id}`, 422, { body: { is_active: 'no' } })
    await admin.patch(`${PROJECTS}/${NOBODY}`, 404, { body: { name: 'X' } })
  })

  test('becomes the default, and choosing the default again keeps it', async () => {
    const main = await mainProject()
    const { external_id: id } = await create('Next Default')
    const { body } = await admin.put(`${PROJECTS}/${id}/default`, 200)
    assert.deepEqual([body.default, body.old_project.name, body.new_project.name], [true, 'main', 'Next Default'])
    const afterwards = async (projectId: string) => (await admin.get(`${PROJECTS}/${projectId}`, 200)).body
    assert.deepEqual(body.new_project, { ...(await afterwards(id)), is_default: true })
    assert.deepEqual(body.old_project, { ...(await afterwards(main.external_id)), is_default: false })
    const again = (await admin.put(`${PROJECTS}/${id}/default/`, 200)).body
    assert.deepEqual([again.old_project, again.new_project], [body.new_project, body.new_project])
    const list = (await admin.get(PROJECTS, 200)).body
    assert.equal(list.default_project, 'Next Default')
    assert.equal(list.projects.filter((item: Item) => item.is_default).length, 1)
    await admin.put(`${PROJECTS}/${main.external_id}/default`, 200)
    await admin.put(`${PROJECTS}/${NOBODY}/default`, 404)
  })

  test('is resolved by id, then permalink, then name', async () => {
    const { external_id: id, id: number } = await create('Résumé Texts')
    const resolve = async (identifier: string) =>
      (await admin.post(`${PROJECTS}/resolve`, 200, { body: { identifier } })).body
    for (const identifier of [id, id.toUpperCase().replaceAll('-', '')]) {
      assert.equal((await resolve(identifier)).resolution_method, 'external_id')
    }
    assert.equal((await resolve(' resume-texts ')).resolution_method, 'permalink')
    assert.equal((await resolve('RÉSUMÉ texts')).resolution_method, 'name')
    assert.deepEqual(await resolve('Resume Texts'), {
      external_id: id,
      project_id: number,
      name: 'Résumé Texts',
      permalink: 'resume-texts',
      path: '/resume-texts',
      is_active: true,
      is_default: false,
      resolution_method: 'permalink',
    })
    for (const identifier of ['nothing', NOBODY, '/', '\u0000', '\ud800']) {
      await admin.post(`${PROJECTS}/resolve`, 404, { body: { identifier } })
    }
    for (const identifier of ['', 'x'.repeat(256), null]) {
      await admin.post(`${PROJECTS}/resolve`, 422, { body: { identifier } })
    }
  })
})

describe('deleting a project', () => {
  test('makes it invisible at once and frees its name and path', async () => {
    const { external_id: id } = await create('Short Lived', { path: '/short' })
    const { body } = await admin.delete(`${PROJECTS}/${id}`, 200)
    assert.deepEqual([body.status, body.old_project.name, body.new_project], ['success', 'Short Lived', null])
    assert.deepEqual([body.deletion_status, body.file_delete_status], ['complete', 'skipped'])
    for (const path of ['', '/info']) await admin.get(`${PROJECTS}/${id}${path}`, 404)
    await admin.delete(`${PROJECTS}/${id}`, 404)
    await admin.post(`${PROJECTS}/${id}/status`, 404)
    assert.ok(!(await names()).includes('Short Lived'))
    assert.notEqual((await create('short lived', { path: '/short/er' })).external_id, id)
  })

  test('is taken back by restoring it, under another name where the old one is taken', async () => {
    const { external_id: id } = await create('Regretted')
    await admin.delete(`${PROJECTS}/${id}?delete_notes=false`, 200)
    await create('regretted')
    assert.match(await detail(admin.post(`${PROJECTS}/${id}/restore`, 400, { body: {} })), /already exists/)
    const { body } = await admin.post(`${PROJECTS}/${id}/restore`, 200, { body: { name: 'Regained' } })
    assert.deepEqual([body.new_project.external_id, body.new_project.name], [id, 'Regained'])
    await admin.post(`${PROJECTS}/${id}/restore`, 404, { body: {} })
  })

  test('is not taken back while another project has its path, unless the server had chosen it', async () => {
    const { external_id: id } = await create('First', { path: '/data/first' })
    await admin.delete(`${PROJECTS}/${id}`, 200)
    const { external_id: other } = await create('Second', { path: '/data/first/deep' })
    assert.match(await detail(admin.post(`${PROJECTS}/${id}/restore`, 400, { body: {} })), /'Second': give that one/)
    await admin.patch(`${PROJECTS}/${other}`, 200, { body: { path: '/data/second' } })
    const { body } = await admin.post(`${PROJECTS}/${id}/restore`, 200, { body: {} })
    assert.equal(body.new_project.path, '/data/first')
    const { external_id: chosen, path } = await create('Unplaced')
    await admin.delete(`${PROJECTS}/${chosen}`, 200)
    await create('Taker', { path })
    const again = (await admin.post(`${PROJECTS}/${chosen}/restore`, 200, { body: {} })).body.new_project
    assert.equal(again.path, `/unplaced-${chosen.slice(-12)}`)
  })

  test('cannot be taken back when the notes were to go with it', async () => {
    const { external_id: id } = await create('For Good')
    const { body: gone } = await admin.delete(`${PROJECTS}/${id}?delete_notes=true`, 200)
    assert.deepEqual([gone.deletion_status, gone.file_delete_status], ['complete', 'pending'])
    await admin.post(`${PROJECTS}/${id}/restore`, 404, { body: {} })
  })

  test('is refused for the default project, which names others', async () => {
    await create('Alternative')
    const text = await detail(admin.delete(`${PROJECTS}/${(await mainProject()).external_id}`, 400))
    assert.match(text, /'main' is the default project/)
    assert.match(text, /make another one the default first, such as '/)
    await admin.delete(`${PROJECTS}/${NOBODY}`, 404)
    await admin.delete(`${PROJECTS}/${(await create('Kept')).external_id}?delete_notes=perhaps`, 422)
    assert.ok((await names()).includes('Kept'))
  })
})

describe('the inside of a project', () => {
  test('that is empty is told honestly', async () => {
    const { external_id: id } = await create('Empty')
    const { body } = await admin.get(`${PROJECTS}/${id}/info`, 200)
    assert.deepEqual([body.project_name, body.external_id], ['Empty', id])
    assert.deepEqual(body.statistics, {
      total_entities: 0,
      total_observations: 0,
      total_relations: 0,
      total_unresolved_relations: 0,
      note_types: {},
      observation_categories: {},
      relation_types: {},
      most_connected_entities: [],
      isolated_entities: 0,
    })
    assert.equal(Object.keys(body.activity.monthly_growth).length, 12)
    assert.deepEqual([body.embedding_status.status, body.embedding_status.total_embeddings], ['ready', 0])
    assert.equal(body.system.database, 'sqlite')
    assert.ok(!JSON.stringify(body).includes(server.dataDir), 'no place on the disk is told')
    assert.deepEqual([body.system.database_path, body.system.database_size], ['', ''])
  })

  test('names its path, the default project and all projects, as clients want it', async () => {
    const { external_id: id, path, permalink } = await create('Of Many')
    const { body } = await admin.get(`${PROJECTS}/${id}/info`, 200)
    assert.deepEqual([body.project_path, body.default_project], [path, 'main'])
    assert.deepEqual(Object.keys(body.available_projects).toSorted(), (await names()).toSorted())
    const { id: number, ...shown } = body.available_projects['Of Many']
    assert.deepEqual(shown, { external_id: id, path, permalink, active: true, is_default: false })
    assert.equal(number > 0, true)
    assert.equal(body.available_projects.main.is_default, true)
    assert.equal(body.embedding_status.total_entities_with_chunks, body.embedding_status.total_indexed_entities)
  })

  test('is read anew by a job, or while the caller waits', async () => {
    const { external_id: id } = await create('Reread')
    const started = (await admin.post(`${PROJECTS}/${id}/index?force_full=true`, 200)).body
    assert.deepEqual([started.status, started.notes], ['index_started', 0])
    const done = (await admin.post(`${PROJECTS}/${id}/index?run_in_background=false`, 200)).body
    assert.deepEqual([done.status, done.notes], ['index_completed', 0])
    const { index, ...status } = (await admin.post(`${PROJECTS}/${id}/status`, 200)).body
    assert.ok(index === null || index.done === 0)
    assert.deepEqual(status, {
      new: 0,
      modified: 0,
      moved: 0,
      deleted: 0,
      total: 0,
      note_count: 0,
      total_files: 0,
      observed_files: [],
      mirror_enabled: false,
    })
    await admin.post(`${PROJECTS}/${NOBODY}/index`, 404)
  })
})

test('every change of a project is in the audit log', async () => {
  const { external_id: id } = await create('Audited')
  await admin.patch(`${PROJECTS}/${id}`, 200, { body: { name: 'Audited Again' } })
  await admin.patch(`${PROJECTS}/${id}`, 200, { body: { name: 'Audited Again' } })
  await admin.put(`${PROJECTS}/${id}/default`, 200)
  await admin.put(`${PROJECTS}/${(await mainProject()).external_id}/default`, 200)
  await admin.post(`${PROJECTS}/${id}/index`, 200)
  await admin.delete(`${PROJECTS}/${id}`, 200)
  await admin.post(`${PROJECTS}/${id}/restore`, 200, { body: {} })
  const { body } = await admin.get(`/api/v2/audit/events?filter[target]=${id}`, 200)
  const actions = body.data.map((event: { attributes: { action: string } }) => event.attributes.action).reverse()
  assert.deepEqual(actions, [
    'project.created',
    'project.updated',
    'project.made_default',
    'project.index_requested',
    'project.deleted',
    'project.restored',
  ])
  const renamed = body.data.at(-2).attributes
  assert.deepEqual(renamed.changes.name, { old: 'Audited', new: 'Audited Again' })
  assert.ok(renamed.actor.user_id)
})
