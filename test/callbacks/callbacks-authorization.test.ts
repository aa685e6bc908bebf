import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import {
  bearerHeader,
  type CredentialHeaders,
  incompleteCredentials,
  scopedKeys,
  sessionOf,
  uselessCredentials,
} from '../support/credential-cases.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { CallbacksApi, errorOf } from './callbacks-api.ts'

interface Operation {
  permission: 'callbacks_read' | 'callbacks_write'
  /** Of somebody who may call it, about something that is not there. */
  passed: number
  body?: unknown
}

const read = (passed = 404): Operation => ({ permission: 'callbacks_read', passed })
const write = (body?: unknown): Operation => ({ permission: 'callbacks_write', passed: 404, body })

/** Who may call an operation on executions, as the contract says it and not as the code does. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /callbacks/{id}': write({
    identity: 'intruder',
    callback: { nexus: { url: 'http://127.0.0.1:9/' } },
    completion: { success: 1 },
  }),
  'GET /callbacks/{id}': read(),
  'GET /callbacks/{id}/outcome': read(),
  'GET /callbacks': read(),
  'GET /callback-count': read(),
  'POST /callbacks/{id}/terminate': write({ reason: 'intruder' }),
  'DELETE /callbacks/{id}': write(),
}

const ALL = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')
const READ_WRITE = ['callbacks_read', 'callbacks_write']

let callbacks: CallbacksApi
let callers: Callers
let anybody: TestClient
let runId: string
before(async () => {
  callbacks = await CallbacksApi.start({
    mode: 'serve',
    env: {
      COMMONPLACE_CALLBACKS__ALLOWED_ADDRESSES: '[{"pattern":"*","allow_insecure":true}]',
      COMMONPLACE_CALLBACKS__ALLOWED_PRIVATE_CIDRS: '["127.0.0.0/8"]',
    },
  })
  callers = await openCallers(callbacks.server)
  anybody = client(callbacks.server, 'none')
  runId = await callbacks.startRunning('secret')
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await callbacks[Symbol.asyncDispose]()
})

function call(title: string, status: number, headers: CredentialHeaders, namespace: string, id: string) {
  const [method, path] = title.split(' ') as [string, string]
  const url = `/namespaces/${namespace}${path.replace('{id}', id)}`
  return anybody.call(method, url, status, { headers, body: OPERATIONS[title]?.body })
}

/** The same words whether or not there is what the path names, and whatever the body says. */
async function assertRefused(title: string, status: 401 | 403, headers: CredentialHeaders, message?: string) {
  const texts = new Set<string>()
  for (const [namespace, id] of [
    ['default', 'secret'],
    ['default', 'nobody'],
    ['nowhere', 'secret'],
    ['%00', 'x'.repeat(1001)],
  ] as const) {
    const answer = await call(title, status, headers, namespace, id)
    const error = errorOf(answer)
    assert.deepEqual([error.code, error.details], [status === 401 ? 16 : 7, []], title)
    assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
    texts.add(answer.text)
  }
  assert.equal(texts.size, 1, [...texts].join('\n'))
  if (message !== undefined) assert.equal(JSON.parse([...texts][0] as string).message, message)
}

async function assertJudged(held: readonly string[], headers: CredentialHeaders): Promise<void> {
  for (const [title, { permission, passed }] of Object.entries(OPERATIONS)) {
    if (held.includes(permission)) errorOf(await call(title, passed, headers, 'nowhere', 'secret'))
    else await assertRefused(title, 403, headers, `Missing permission: ${permission}`)
  }
}

async function assertUntouched(): Promise<void> {
  const { info } = await callbacks.describe('secret')
  assert.deepEqual([info.runId, info.stateTransitionCount], [runId, '1'])
  assert.equal((await callbacks.count()).body.count, '1')
}

test('every operation on executions is UNAUTHENTICATED with missing and with bad credentials alike', async () => {
  const cases = { ...incompleteCredentials(callbacks.server), ...(await uselessCredentials(callbacks.server, callers)) }
  for (const headers of Object.values(cases)) {
    for (const title of Object.keys(OPERATIONS)) await assertRefused(title, 401, headers)
  }
  await assertUntouched()
})

for (const [role, held] of Object.entries({
  admin: READ_WRITE,
  standard: READ_WRITE,
  read_only: ['callbacks_read'],
  none: [],
})) {
  test(`every operation lets exactly those pass that it should: ${role === 'none' ? 'no role' : `the managed role ${role}`}`, async () => {
    const { token } = await callers.make({ roles: role === 'none' ? [] : [role] })
    await assertJudged(held, bearerHeader(token))
    await assertUntouched()
  })
}

test("only what an administrator's token or key is narrowed to counts", async () => {
  const owner = await callers.make({ roles: ['admin'] })
  for (const scopes of [
    ['callbacks_read'],
    ['callbacks_write'],
    READ_WRITE,
    ALL.filter((name) => !name.startsWith('callbacks_')),
  ]) {
    await assertJudged(scopes, bearerHeader((await callers.make({ roles: ['admin'], scopes })).token))
    await assertJudged(scopes, await scopedKeys(callbacks.server, owner.client, scopes))
  }
  await assertUntouched()
})

test('what changes something is refused with the cookie of a session alone, and passes with its X-CSRF-Token', async () => {
  const { userId } = await callers.make({ roles: ['admin'] })
  const { cookie, csrf_token: token } = await sessionOf(callers, userId)
  for (const title of Object.keys(OPERATIONS)) {
    if (!title.startsWith('GET')) {
      await assertRefused(title, 403, { cookie }, 'The X-CSRF-Token header is missing or wrong')
    }
    errorOf(await call(title, 404, { cookie, 'x-csrf-token': token }, 'nowhere', 'secret'))
  }
  await assertUntouched()
})

test('who may read sees the input as well: there is no right of its own for it', async () => {
  const { client: reader } = await callers.make({ roles: ['read_only'] })
  const { body } = await reader.get(callbacks.at('secret', '?includeInput'), 200)
  assert.deepEqual(body.input, { success: { paid: true } })
})
