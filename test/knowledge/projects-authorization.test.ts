import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { bearerHeader } from '../support/credential-cases.ts'
import { type RuledOperation, testAccess } from '../support/test-access.ts'
import { client } from '../support/test-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'

const read = (passed: number, body?: unknown) => ({ permission: 'projects_read', passed, body })
const write = (passed: number, body?: unknown) => ({ permission: 'projects_write', passed, body })

const OPERATIONS: Record<string, RuledOperation> = {
  'GET /v2/projects': read(200),
  'POST /v2/projects': write(422, {}),
  'POST /v2/projects/resolve': read(422, {}),
  'GET /v2/projects/{project_id}': read(404),
  'PATCH /v2/projects/{project_id}': write(404, {}),
  'DELETE /v2/projects/{project_id}': write(404),
  'POST /v2/projects/{project_id}/restore': write(404, {}),
  'PUT /v2/projects/{project_id}/default': write(404),
  'GET /v2/projects/{project_id}/info': read(404),
  'POST /v2/projects/{project_id}/index': write(404),
  'POST /v2/projects/{project_id}/status': read(404),
}

const ALL = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')

const world = testAccess('projects', {
  operations: OPERATIONS,
  isListed: (path) => /^\/v2\/projects(\/|$)/.test(path),
  async call(anybody, { title, method, path, operation, status, headers }) {
    const options = { headers, body: operation.body }
    const { body } = await anybody.call(method, path.replace('{project_id}', NOBODY), status, options)
    if (status === 401) assert.deepEqual(body, { detail: 'Unauthorized' }, title)
    if (status >= 400) assert.equal(typeof body.detail, 'string', title)
  },
  useless: 403,
  roles: {
    admin: ['projects_read', 'projects_write'],
    standard: ['projects_read', 'projects_write'],
    read_only: ['projects_read'],
  },
  scopes: [['projects_read'], ['projects_write'], ALL, ALL.filter((name) => !name.startsWith('projects_'))],
})

test('the figures of a project name notes, and words of notes, only to those who may read notes', async () => {
  const { server, callers, anybody } = world()
  const api = client(server)
  const { external_id: id } = (await api.get('/v2/projects', 200)).body.projects[0]
  const content = '---\ntype: classified\n---\n- [diagnosis] known\n- covers_up [[Secret]]'
  await api.post(`/v2/${id}/knowledge/entities`, 201, { body: { title: 'Secret', directory: 'hidden', content } })
  await api.post(`/v2/${id}/knowledge/entities`, 201, { body: { title: 'Secret too', directory: 'hidden', content } })
  const info = async (scopes: string[]) => {
    const headers = bearerHeader((await callers.make({ roles: ['admin'], scopes })).token)
    return (await anybody.get(`/v2/projects/${id}/info`, 200, { headers })).body
  }
  const figures = await info(['projects_read'])
  assert.equal(figures.statistics.total_entities, 2)
  assert.doesNotMatch(JSON.stringify(figures), /secret|hidden|classified|diagnosis|covers_up/i)
  const all = await info(['projects_read', 'notes_read'])
  assert.equal(all.activity.recently_created.length, 2)
  assert.equal(all.statistics.most_connected_entities.length, 2)
  assert.deepEqual(all.statistics.observation_categories, { diagnosis: 2 })
})
