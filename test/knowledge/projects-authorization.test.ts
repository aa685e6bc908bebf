import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import {
  bearerHeader,
  type CredentialHeaders,
  incompleteCredentials,
  uselessCredentials,
} from '../support/credential-cases.ts'
import { offeredOperations } from '../support/operations.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'

interface Row {
  permission: 'projects_read' | 'projects_write'
  /** What somebody is answered who may call it with an id that nobody has and the body; it changes nothing. */
  passed: number
  body?: unknown
}

const read = (passed: number, body?: unknown): Row => ({ permission: 'projects_read', passed, body })
const write = (passed: number, body?: unknown): Row => ({ permission: 'projects_write', passed, body })

/** Every operation on projects; one that is missing here fails the first test. */
const OPERATIONS: Record<string, Row> = {
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

let server: TestServer
let callers: Callers
let anybody: TestClient
before(async () => {
  server = await startServer({ mode: 'serve' })
  callers = await openCallers(server)
  anybody = client(server, 'none')
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

async function callAll(headers: CredentialHeaders, statusOf: (row: Row) => number): Promise<void> {
  for (const [title, row] of Object.entries(OPERATIONS)) {
    const [method, path] = title.split(' ') as [string, string]
    const status = statusOf(row)
    const { body } = await anybody.call(method, path.replace('{project_id}', NOBODY), status, {
      headers,
      body: row.body,
    })
    if (status === 401) assert.deepEqual(body, { detail: 'Unauthorized' }, title)
    if (status >= 400) assert.equal(typeof body.detail, 'string', title)
  }
}

test('every operation on projects has its line in the table of rules, and every line its operation', async () => {
  const offered = await offeredOperations(server, (path) => /^\/v2\/projects(\/|$)/.test(path))
  assert.deepEqual(offered, Object.keys(OPERATIONS).sort())
})

test('every operation on projects is 401 without complete credentials and 403 with useless ones', async () => {
  for (const headers of Object.values(incompleteCredentials(server))) await callAll(headers, () => 401)
  for (const headers of Object.values(await uselessCredentials(server, callers))) await callAll(headers, () => 403)
})

test('every operation on projects lets exactly those pass who have its permission', async () => {
  const may = (held: readonly string[]) => (row: Row) =>
    held.includes('admin') || held.includes(row.permission) ? row.passed : 403
  for (const [role, held] of Object.entries({
    admin: ['admin'],
    standard: ['projects_read', 'projects_write'],
    read_only: ['projects_read'],
  })) {
    await callAll(bearerHeader((await callers.make({ roles: [role] })).token), may(held))
  }
  await callAll(bearerHeader((await callers.make({})).token), may([]))
  const all = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')
  for (const scopes of [
    ['projects_read'],
    ['projects_write'],
    all,
    all.filter((name) => !name.startsWith('projects_')),
  ]) {
    await callAll(bearerHeader((await callers.make({ roles: ['admin'], scopes })).token), may(scopes))
  }
})

test('the figures of a project name notes, and words of notes, only to those who may read notes', async () => {
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
