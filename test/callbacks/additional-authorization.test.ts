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

interface Operation {
  permission: 'callbacks_read' | 'callbacks_write'
  body?: unknown
}

const READ: Operation = { permission: 'callbacks_read' }
const write = (body: unknown): Operation => ({ permission: 'callbacks_write', body })

const CALLBACK = { nexus: { url: 'https://hooks.example.org/' } }

/** Every operation that only this server has; one that is missing here fails the first test. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /callbacks/{callback_id}/attempts': READ,
  'POST /callbacks/{callback_id}/retry': write({}),
  'POST /callbacks/{callback_id}/replay': write({}),
  'POST /callback-replays': write({ query: '' }),
  'GET /callback-replays/{job_id}': READ,
  'GET /destinations': READ,
  'PATCH /destinations/{destination}': write({ paused: true }),
  'POST /destinations/{destination}/reset': write({}),
  'POST /callback-tests': write({ callback: CALLBACK }),
}

const INSIDE = '/namespaces/{namespace}'
/** Those that other servers offer, too. */
const KNOWN_ELSEWHERE = /^\/(callbacks|callbacks\/\{callback_id\}(\/(outcome|terminate))?|callback-count)$/

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

/** About a namespace that is not there: who may call is told so. */
async function callAll(headers: CredentialHeaders, statusOf: (operation: Operation) => number): Promise<void> {
  for (const [title, operation] of Object.entries(OPERATIONS)) {
    const [method, path] = title.split(' ') as [string, string]
    const filled = path
      .replace('{job_id}', '018f0000-0000-7000-8000-000000000000')
      .replace('{destination}', encodeURIComponent('https://hooks.example.org'))
      .replace('{callback_id}', 'c')
    const status = statusOf(operation)
    for (const prefix of ['', '/api/v1']) {
      const answer = await anybody.call(method, `${prefix}/namespaces/nowhere${filled}`, status, {
        headers,
        body: operation.body,
      })
      const code = { 401: 16, 403: 7, 404: 5 }[status]
      assert.equal(answer.body.code, code, title)
      if (status === 403) assert.equal(answer.body.message, `Missing permission: ${operation.permission}`)
    }
  }
}

test('every additional operation has its line in the table of rules, and every line its operation', async () => {
  const isAdditional = (path: string) =>
    path.startsWith(`${INSIDE}/`) && !KNOWN_ELSEWHERE.test(path.replace(INSIDE, ''))
  const offered = await offeredOperations(server, isAdditional)
  const listed = Object.keys(OPERATIONS).map((title) => title.replace(' ', ` ${INSIDE}`))
  assert.deepEqual(offered, listed.sort())
})

test('every additional operation is UNAUTHENTICATED with missing and with bad credentials', async () => {
  for (const headers of Object.values(incompleteCredentials(server))) await callAll(headers, () => 401)
  for (const headers of Object.values(await uselessCredentials(server, callers))) await callAll(headers, () => 401)
})

test('every additional operation lets exactly those pass who have its permission', async () => {
  const may = (held: readonly string[]) => (operation: Operation) => (held.includes(operation.permission) ? 404 : 403)
  for (const [role, held] of Object.entries({
    admin: ['callbacks_read', 'callbacks_write'],
    standard: ['callbacks_read', 'callbacks_write'],
    read_only: ['callbacks_read'],
  })) {
    await callAll(bearerHeader((await callers.make({ roles: [role] })).token), may(held))
  }
  await callAll(bearerHeader((await callers.make({})).token), may([]))
  const others = PERMISSIONS.map(({ name }) => name).filter((name) => !/^(admin|callbacks_.*)$/.test(name))
  for (const scopes of [['callbacks_read'], ['callbacks_write'], ['callbacks_read', 'callbacks_write'], others]) {
    await callAll(bearerHeader((await callers.make({ roles: ['admin'], scopes })).token), may(scopes))
  }
})
