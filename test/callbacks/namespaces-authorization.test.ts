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

interface Row {
  permission: 'callbacks_read' | 'org_management'
  /** What somebody is answered who may call it with a namespace that is not there and the body; it changes nothing. */
  passed: number
  body?: unknown
}

const read = (passed: number): Row => ({ permission: 'callbacks_read', passed })
const change = (passed: number, body?: unknown): Row => ({ permission: 'org_management', passed, body })

/** Every operation on namespaces; one that is missing here fails the first test. */
const OPERATIONS: Record<string, Row> = {
  'GET /namespaces': read(200),
  'POST /namespaces': change(400, {}),
  'GET /namespaces/{namespace}': read(404),
  'PATCH /namespaces/{namespace}': change(404, {}),
  'DELETE /namespaces/{namespace}': change(404),
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
    for (const prefix of ['', '/api/v1']) {
      const { body } = await anybody.call(method, prefix + path.replace('{namespace}', 'nowhere'), status, {
        headers,
        body: row.body,
      })
      if (status === 401) assert.equal(body.code, 16, title)
      if (status === 403) assert.deepEqual([body.code, body.details], [7, []], title)
    }
  }
}

test('every operation on namespaces has its line in the table of rules, and every line its operation', async () => {
  const offered = await offeredOperations(server, (path) => /^\/namespaces(\/\{namespace\})?$/.test(path))
  assert.deepEqual(offered, Object.keys(OPERATIONS).sort())
})

test('every operation on namespaces is UNAUTHENTICATED with missing and with bad credentials', async () => {
  for (const headers of Object.values(incompleteCredentials(server))) await callAll(headers, () => 401)
  for (const headers of Object.values(await uselessCredentials(server, callers))) await callAll(headers, () => 401)
})

test('every operation on namespaces lets exactly those pass who have its permission, before it looks at the body', async () => {
  const may = (held: readonly string[]) => (row: Row) =>
    held.includes('admin') || held.includes(row.permission) ? row.passed : 403
  for (const [role, held] of Object.entries({
    admin: ['admin'],
    standard: ['callbacks_read'],
    read_only: ['callbacks_read'],
  })) {
    await callAll(bearerHeader((await callers.make({ roles: [role] })).token), may(held))
  }
  await callAll(bearerHeader((await callers.make({})).token), may([]))
  const all = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')
  for (const scopes of [
    ['callbacks_read'],
    ['callbacks_write'],
    ['org_management'],
    all,
    all.filter((name) => name !== 'org_management' && !name.startsWith('callbacks_')),
  ]) {
    await callAll(bearerHeader((await callers.make({ roles: ['admin'], scopes })).token), may(scopes))
  }
})
