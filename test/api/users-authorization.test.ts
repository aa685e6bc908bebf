import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PERMISSIONS, type PermissionName } from '../../src/platform/auth/permissions.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import {
  bearerHeader,
  type CredentialHeaders,
  incompleteCredentials,
  scopedKeys,
  sessionOf,
  uselessCredentials,
} from '../support/credential-cases.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { permissionsOf, type Rule, USERS_OPERATIONS, type UsersOperation } from '../support/users-operations.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'
const READ_ONLY = ['user_access_read', 'user_self_profile_write', 'projects_read', 'notes_read', 'callbacks_read']
const STANDARD = [
  ...READ_ONLY,
  'user_access_invite',
  'user_app_keys',
  'projects_write',
  'notes_write',
  'callbacks_write',
]
const ALL = PERMISSIONS.map(({ name }) => name)
const OPERATIONS = Object.entries(USERS_OPERATIONS).map(([title, operation]) => {
  const [method, path] = title.split(' ') as [string, string]
  return { title, method, path, ...operation }
})

let server: TestServer
let callers: Callers
let anybody: TestClient
before(async () => {
  server = await startServer({ mode: 'serve', env: { COMMONPLACE_USERS__RATE_LIMITS: '{}' } })
  callers = await openCallers(server)
  anybody = client(server, 'none')
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

type Listed = (typeof OPERATIONS)[number]

function call({ method, path, body }: Listed, status: number, headers: CredentialHeaders, id = NOBODY) {
  return anybody.call(method, path.replaceAll(/\{\w+\}/g, id), status, { body, headers })
}

/** The whole answer to somebody who is refused: these words and nothing else. */
async function assertRefused(
  operation: Listed,
  status: 401 | 403,
  headers: CredentialHeaders,
  error: string,
  id?: string,
) {
  const answer = await call(operation, status, headers, id)
  assert.deepEqual(answer.body, { errors: [error] }, operation.title)
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.match(answer.headers.get('x-request-id') ?? '', /^[\w.-]+$/)
  assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
  assert.equal(answer.headers.get('etag'), null)
}

/** What the contract says about somebody with these permissions, using a token or key on somebody else's things. */
async function assertJudged(operation: Listed, held: readonly string[], headers: CredentialHeaders) {
  const { rule, passed, title } = operation
  const needed = permissionsOf(rule)
  if (rule === 'session') return assertRefused(operation, 401, headers, 'Unauthorized')
  if (needed.length === 0 || held.includes('admin') || needed.some((name) => held.includes(name))) {
    const answer = await call(operation, passed, headers)
    if (passed >= 400)
      assert.ok(
        answer.body.errors.every((text: unknown) => typeof text === 'string'),
        title,
      )
    return
  }
  await assertRefused(operation, 403, headers, `Missing permission: ${needed[0]}`)
}

/** Everything except the permissions that would do. */
function allBut(rule: Rule): PermissionName[] {
  return ALL.filter((name) => name !== 'admin' && !permissionsOf(rule).includes(name))
}

test('every operation of the users surface has its line in the table of rules, and every line its operation', async () => {
  const { body } = await anybody.get('/openapi.json', 200)
  const offered = Object.entries(body.paths as Record<string, Record<string, { tags?: string[] }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => tags?.includes('users') || isUsersPath(path))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(offered.sort(), Object.keys(USERS_OPERATIONS).sort())
})

describe('every operation of the users surface', () => {
  test('is 401 without complete credentials, unless it is public', async () => {
    for (const headers of Object.values(incompleteCredentials(server))) {
      for (const operation of OPERATIONS) {
        if (operation.rule === 'public') await call(operation, operation.passed, headers)
        else await assertRefused(operation, 401, headers, 'Unauthorized')
      }
    }
  })

  test('is 403 with credentials that do not work, in the same words for every cause', async () => {
    for (const headers of Object.values(await uselessCredentials(server, callers))) {
      for (const operation of OPERATIONS) {
        if (operation.rule === 'public') await call(operation, operation.passed, headers)
        else if (operation.rule === 'session') await assertRefused(operation, 401, headers, 'Unauthorized')
        else await assertRefused(operation, 403, headers, 'Forbidden')
      }
    }
  })

  for (const [role, held] of Object.entries({ admin: ALL, standard: STANDARD, read_only: READ_ONLY, none: [] })) {
    test(`lets exactly those pass that it should: ${role === 'none' ? 'no role' : `the managed role ${role}`}`, async () => {
      const { token } = await callers.make({ roles: role === 'none' ? [] : [role] })
      for (const operation of OPERATIONS) await assertJudged(operation, held, bearerHeader(token))
    })
  }

  test('is satisfied with a custom role that has just the permission', async () => {
    const made = new Map<string, string>()
    for (const operation of OPERATIONS) {
      for (const permission of permissionsOf(operation.rule)) {
        const token = made.get(permission) ?? (await callers.make({ permissions: [permission] })).token
        made.set(permission, token)
        await call(operation, operation.passed, bearerHeader(token))
      }
    }
  })

  test('is satisfied with a key that is narrowed to the permission', async () => {
    const owner = await callers.make({ roles: ['admin'] })
    for (const operation of OPERATIONS) {
      const [permission] = permissionsOf(operation.rule)
      if (permission === undefined || operation.rule === 'own') continue
      await call(operation, operation.passed, await scopedKeys(server, owner.client, [permission]))
    }
  })

  test("is 403 with an administrator's key that is narrowed to everything else", async () => {
    const owner = await callers.make({ roles: ['admin'] })
    for (const operation of OPERATIONS) {
      const [permission] = permissionsOf(operation.rule)
      if (permission === undefined) continue
      const headers = await scopedKeys(server, owner.client, allBut(operation.rule))
      await assertRefused(operation, 403, headers, `Missing permission: ${permission}`)
    }
  })

  test('is 403 with every permission but the one, through a role', async () => {
    const made = new Map<string, string>()
    for (const operation of OPERATIONS) {
      const [permission] = permissionsOf(operation.rule)
      // The base permissions are in every role.
      if (permission === undefined || permission === 'user_access_read') continue
      const token =
        made.get(String(operation.rule)) ?? (await callers.make({ permissions: allBut(operation.rule) })).token
      made.set(String(operation.rule), token)
      await assertRefused(operation, 403, bearerHeader(token), `Missing permission: ${permission}`)
    }
  })

  test('that changes something is 403 with the cookie of a session alone, and passes with its X-CSRF-Token', async () => {
    const { userId } = await callers.make({ roles: ['admin'] })
    for (const operation of OPERATIONS) {
      const { cookie, csrf_token: token } = await sessionOf(callers, userId)
      const status = operation.path.endsWith('/sign_out') ? 204 : operation.passed
      const changes = operation.method !== 'GET' && operation.rule !== 'public'
      if (changes) {
        const error = 'The X-CSRF-Token header is missing or wrong'
        await assertRefused(operation, 403, { cookie }, error)
        await assertRefused(operation, 403, { cookie, 'x-csrf-token': 'guessed' }, error)
      }
      await call(operation, status, changes ? { cookie, 'x-csrf-token': token } : { cookie })
    }
  })

  test('tells a refused caller the same whether or not there is what the path names', async () => {
    const caller = await callers.make({})
    const { userId: somebody } = await callers.make({ roles: ['standard'] })
    const [role] = (await client(server).get('/api/v2/roles', 200)).body.data
    for (const operation of OPERATIONS.filter(({ path, rule }) => path.includes('{') && rule !== 'public')) {
      const real = operation.path.includes('{role_id}') ? role.id : somebody
      const error = `Missing permission: ${permissionsOf(operation.rule)[0]}`
      for (const id of [real, NOBODY, 'nonsense', '%00', 'x'.repeat(200)]) {
        await assertRefused(operation, 403, bearerHeader(caller.token), error, id)
      }
    }
  })
})

describe('what a user may do to itself', () => {
  const ofSelf = OPERATIONS.filter((operation) => isSelf(operation.rule))

  test('without any role: see itself, its sessions and its data, and nothing of anybody else', async () => {
    const { userId, token } = await callers.make({})
    for (const operation of ofSelf) {
      const status = operation.path.includes('{session_id}') ? 404 : operation.method === 'GET' ? 200 : 204
      const path = operation.path.replace('{user_id}', userId).replace('{session_id}', NOBODY)
      await anybody.call(operation.method, path, status, { headers: bearerHeader(token) })
      await anybody.call(operation.method, path.replace(userId, userId.toUpperCase()), status, {
        headers: bearerHeader(token),
      })
      await assertRefused(
        operation,
        403,
        bearerHeader(token),
        `Missing permission: ${permissionsOf(operation.rule)[0]}`,
      )
    }
  })

  test('in a session: protect the account, whatever its roles are', async () => {
    const { userId } = await callers.make({})
    const { cookie, csrf_token: token } = await sessionOf(callers, userId)
    for (const operation of OPERATIONS.filter(({ rule }) => rule === 'own')) {
      await call(operation, operation.passed, { cookie, 'x-csrf-token': token })
    }
    await anybody.get('/api/v2/auth/session', 200, { headers: { cookie } })
    await anybody.post('/api/v2/auth/sign_out', 204, { headers: { cookie, 'x-csrf-token': token } })
  })
})

test('service_account_write reaches service accounts and nobody else', async () => {
  const { token } = await callers.make({ permissions: ['service_account_write'] })
  const manager = anybody.as({ token })
  const person = (await callers.make({})).userId
  const attributes = { email: 'robot@example.org', service_account: true }
  const { body } = await manager.post('/api/v2/service_accounts', 201, {
    body: { data: { type: 'users', attributes } },
  })
  const account = body.data.id
  const rename = (id: string) => ({ body: { data: { type: 'users', id, attributes: { name: 'Robot' } } } })
  await manager.patch(`/api/v2/users/${account}`, 200, rename(account))
  const refused = await manager.patch(`/api/v2/users/${person}`, 403, rename(person))
  assert.deepEqual(refused.body, { errors: ['Missing permission: user_access_manage'] })
  await manager.delete(`/api/v2/users/${person}`, 403)
  await manager.delete(`/api/v2/users/${account}`, 204)
})

function isSelf(rule: UsersOperation['rule']): boolean {
  return typeof rule === 'object' && 'self' in rule
}

function isUsersPath(path: string): boolean {
  return path.startsWith('/api/v2/') && !path.startsWith('/api/v2/instance')
}
