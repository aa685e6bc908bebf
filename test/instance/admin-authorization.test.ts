import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DEFAULT_RULES } from '../../src/instance/domains/domain-block.ts'
import { insertBlocks } from '../../src/instance/domains/store-blocks.ts'
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

/** What somebody is answered who may call it with an id that is not there and this body; it changes nothing. */
type Row = [passed: number, body?: unknown]

const ADMIN = '/api/v1/admin'

/** Every operation of administrators of this part; one that is missing here fails the first test. */
const OPERATIONS: Record<string, Row> = {
  [`GET ${ADMIN}/instance`]: [200],
  [`PATCH ${ADMIN}/instance`]: [422, { nonsense: 1 }],
  [`GET ${ADMIN}/instance/sources`]: [200],
  [`GET ${ADMIN}/instance/rules`]: [200],
  [`POST ${ADMIN}/instance/rules`]: [422, {}],
  [`PUT ${ADMIN}/instance/rules/{id}`]: [404, {}],
  [`DELETE ${ADMIN}/instance/rules/{id}`]: [404],
  [`POST ${ADMIN}/instance/rules/{id}/move`]: [404, { offset: 1 }],
  [`GET ${ADMIN}/instance/extended_description`]: [200],
  [`PUT ${ADMIN}/instance/extended_description`]: [422, {}],
  [`GET ${ADMIN}/instance/privacy_policy`]: [200],
  [`PUT ${ADMIN}/instance/privacy_policy`]: [422, {}],
  [`GET ${ADMIN}/instance/terms_of_service`]: [200],
  [`POST ${ADMIN}/instance/terms_of_service`]: [422, {}],
  [`PUT ${ADMIN}/instance/terms_of_service/{id}`]: [404, {}],
  [`DELETE ${ADMIN}/instance/terms_of_service/{id}`]: [404],
  [`POST ${ADMIN}/instance/terms_of_service/{id}/publish`]: [404, {}],
  [`GET ${ADMIN}/domain_blocks`]: [200],
  [`POST ${ADMIN}/domain_blocks`]: [422, {}],
  [`GET ${ADMIN}/domain_blocks/{id}`]: [404],
  [`PUT ${ADMIN}/domain_blocks/{id}`]: [404, {}],
  [`DELETE ${ADMIN}/domain_blocks/{id}`]: [404],
  [`GET ${ADMIN}/domain_blocks/export`]: [200],
  [`POST ${ADMIN}/domain_blocks/import`]: [422, {}],
  [`GET ${ADMIN}/domain_allows`]: [200],
  [`POST ${ADMIN}/domain_allows`]: [422, {}],
  [`DELETE ${ADMIN}/domain_allows/{domain}`]: [404],
  [`GET ${ADMIN}/instance/peers`]: [200],
  [`POST ${ADMIN}/instance/peers`]: [422, {}],
  [`DELETE ${ADMIN}/instance/peers/{domain}`]: [404],
}
/** Of a colleague's parts, which have tests of their own. */
const ELSEWHERE = /\/(thumbnail|icon|translation_languages)\b/

let server: TestServer
let callers: Callers
let anybody: TestClient
before(async () => {
  const limits = Object.fromEntries(['PER_IP', 'PER_TOKEN', 'PER_USER'].map((name) => [name, '0']))
  const env = Object.entries(limits).map(([name, value]) => [`COMMONPLACE_INSTANCE__RATE_LIMITS__${name}`, value])
  server = await startServer({ mode: 'serve', env: Object.fromEntries(env) })
  callers = await openCallers(server)
  anybody = client(server, 'none')
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

async function callAll(headers: CredentialHeaders, refused: 401 | 403 | null): Promise<void> {
  for (const [title, [passed, body]] of Object.entries(OPERATIONS)) {
    const [method, path] = title.split(' ') as [string, string]
    const url = path.replace('{id}', '999').replace('{domain}', 'nowhere.example')
    const answer = await anybody.call(method, url, refused ?? passed, { headers, body })
    assert.match(answer.headers.get('cache-control') ?? '', /^private, no-store$/, title)
    if (refused === 401) assert.deepEqual(answer.body, { error: 'The access token is invalid' }, title)
    if (refused === 403) assert.deepEqual(answer.body, { error: 'This action is not allowed' }, title)
  }
}

test('every operation of administrators has its line in the table, and every line its operation', async () => {
  const offered = await offeredOperations(server, (path) => path.startsWith(`${ADMIN}/`) && !ELSEWHERE.test(path))
  assert.deepEqual(offered, Object.keys(OPERATIONS).sort())
})

test('without credentials, or with bad ones, every operation is refused alike', async () => {
  for (const headers of Object.values(incompleteCredentials(server))) await callAll(headers, 401)
  for (const headers of Object.values(await uselessCredentials(server, callers))) await callAll(headers, 401)
  const missing = await anybody.get(`${ADMIN}/instance`, 401)
  assert.match(missing.headers.get('www-authenticate') ?? '', /^Bearer realm="[^"]+"$/)
  const bad = await anybody.get(`${ADMIN}/instance`, 401, { headers: bearerHeader('nonsense') })
  assert.match(bad.headers.get('www-authenticate') ?? '', /^Bearer realm="[^"]+", error="invalid_token"$/)
})

test('exactly those pass who may manage the instance, before the body is looked at', async () => {
  for (const [role, refused] of [
    ['admin', null],
    ['standard', 403],
    ['read_only', 403],
  ] as const) {
    await callAll(bearerHeader((await callers.make({ roles: [role] })).token), refused)
  }
  await callAll(bearerHeader((await callers.make({})).token), 403)
  const others = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin' && name !== 'org_management')
  await callAll(bearerHeader((await callers.make({ permissions: ['org_management'] })).token), null)
  await callAll(bearerHeader((await callers.make({ permissions: others })).token), 403)
  await callAll(bearerHeader((await callers.make({ roles: ['admin'], scopes: ['org_management'] })).token), null)
  await callAll(bearerHeader((await callers.make({ roles: ['admin'], scopes: others })).token), 403)
})

test('a list of blocks that is being downloaded breaks off when the right to it is gone', async () => {
  // Four pages, of which two are more than connections hold.
  const rules = { ...DEFAULT_RULES, publicComment: 'x'.repeat(5_000), createdAt: 0 }
  const blocks = Array.from({ length: 4_000 }, (_, n) => ({ ...rules, domain: `d${n}.example` }))
  await callers.db.write((tx) => insertBlocks(tx, blocks))
  const reader = await callers.make({ permissions: ['org_management'] })
  const headers = { ...bearerHeader(reader.token), 'accept-encoding': 'identity' }
  const answer = await fetch(`${server.url}${ADMIN}/domain_blocks/export`, { headers })
  assert.equal(answer.status, 200)
  await client(server).delete(`/api/v2/users/${reader.userId}`, 204)
  await assert.rejects(answer.text(), /terminated/)
})
