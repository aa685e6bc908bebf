import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { create as createMessage, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  CreateNamespaceRequestSchema,
  ListNamespacesResponseSchema,
  NamespaceSchema,
  UpdateNamespaceRequestSchema,
} from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { newId } from '../../src/platform/ids/uuid.ts'
import { announceBody } from '../support/announce-body.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { signingSecret } from './namespace-world.ts'

const LISTED = {
  listed: { search_attributes: { Region: 'Keyword' }, retention: '3d', signing_secrets: [signingSecret(9)] },
}

let server: TestServer
let admin: TestClient
let callers: Callers
before(async () => {
  server = await startServer({
    mode: 'serve',
    env: { COMMONPLACE_CALLBACKS__NAMESPACES: JSON.stringify(LISTED), COMMONPLACE_LOG_LEVEL: 'trace' },
  })
  admin = client(server)
  callers = await openCallers(server)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await server.stop()
})

let made = 0
async function create(body: Record<string, unknown> = {}): Promise<string> {
  const name = `ns-${++made}`
  await admin.post('/namespaces', 200, { body: { name, ...body } })
  return name
}

async function refused(method: string, path: string, status: number, body?: unknown) {
  const answer = await admin.call(method, path, status, { body })
  assert.deepEqual(Object.keys(answer.body), ['code', 'message', 'details'])
  return answer.body as { code: number; message: string; details: unknown[] }
}

test('a namespace is made, read, changed and deleted under both paths', async () => {
  for (const prefix of ['', '/api/v1']) {
    const body = { name: 'orders', description: 'Paid ones', retention: '604800s', searchAttributes: { Id: 'Keyword' } }
    const created = await admin.post(`${prefix}/namespaces`, 200, { body })
    assert.equal(created.body.name, 'orders')
    const { body: shown } = await admin.get(`${prefix}/namespaces/orders`, 200)
    assert.deepEqual(shown, created.body)
    assert.deepEqual(
      [shown.description, shown.retention, shown.searchAttributes, shown.signing, shown.overrides],
      ['Paid ones', '604800s', { Id: 'Keyword' }, { secretCount: 0 }, ['retention']],
    )
    const patch = { allowedAddresses: [{ pattern: '*.example.org' }], retry: { maxInterval: '5m' }, retention: null }
    const { body: changed } = await admin.patch(`${prefix}/namespaces/orders`, 200, { body: patch })
    assert.deepEqual(changed.allowedAddresses, [{ pattern: '*.example.org', allowInsecure: false }])
    assert.deepEqual([changed.retry.maxInterval, changed.retry.initialInterval], ['300s', '1s'])
    assert.deepEqual([changed.retention, changed.description], ['2592000s', 'Paid ones'])
    assert.deepEqual(changed.overrides, ['allowedAddresses', 'retry.maxInterval'])
    assert.ok(changed.updateTime > changed.createTime)
    assert.deepEqual((await admin.delete(`${prefix}/namespaces/orders`, 200)).body, {})
    assert.equal((await refused('GET', `${prefix}/namespaces/orders`, 404)).code, 5)
  }
})

test('every value in effect is shown, with durations in seconds and nothing secret', async () => {
  const { body } = await admin.get('/namespaces/default', 200)
  assert.deepEqual(body, {
    name: 'default',
    description: '',
    createTime: body.createTime,
    updateTime: body.updateTime,
    searchAttributes: {},
    signing: { secretCount: 0 },
    overrides: [],
    enabled: true,
    allowedAddresses: [{ pattern: '*', allowInsecure: false }],
    allowedPrivateCidrs: [],
    deniedPorts: [22, 25, 465, 587, 6379, 5432, 3306, 11_211],
    requestTimeout: '10s',
    retry: { initialInterval: '1s', maxInterval: '3600s', coefficient: 2, jitter: 0.2 },
    scheduleToClose: { default: null, max: null },
    urlMaxLength: 1000,
    headerMaxSize: 8192,
    longPoll: { timeout: '60s', buffer: '1s' },
    maxIdLength: 1000,
    blobSize: { error: 2_097_152, warn: 524_288 },
    searchAttributeLimits: { keys: 100, valueBytes: 2048, totalBytes: 40_960 },
    maxPageSize: 1000,
    destination: { concurrency: 100, rps: 0 },
    breaker: { consecutiveFailures: 5, openFor: '60s', halfOpenRequests: 1 },
    retention: '2592000s',
    maxOpenLongPolls: 1000,
    rateLimit: { limit: 0, period: '60s' },
  })
  const { body: listed } = await admin.get('/namespaces/listed', 200)
  assert.deepEqual([listed.retention, listed.signing, listed.overrides], ['259200s', { secretCount: 1 }, []])
})

test('what was answered can be sent back as a change that changes nothing', async () => {
  const name = await create({ retention: '2d', destination: { rps: 0.5 }, requestTimeout: '500ms' })
  const { body } = await admin.get(`/namespaces/${name}`, 200)
  assert.equal(body.requestTimeout, '0.500s', 'as durations are written in messages')
  const { createTime: _made, updateTime, signing: _signing, overrides: _own, ...rest } = body
  const again = await admin.patch(`/namespaces/${name}`, 200, { body: rest })
  assert.deepEqual({ ...again.body, overrides: [], updateTime }, { ...body, overrides: [] })
})

test('the list is paged and complete', async () => {
  for (let n = 0; n < 3; n++) await create()
  const all: string[] = (await admin.get('/namespaces', 200)).body.namespaces.map((one: { name: string }) => one.name)
  assert.ok(all.includes('default') && all.includes('listed') && all.length >= 5)
  const found: string[] = []
  let token = ''
  do {
    const { body } = await admin.get(`/api/v1/namespaces?pageSize=2&nextPageToken=${token}`, 200)
    found.push(...body.namespaces.map((one: { name: string }) => one.name))
    token = body.nextPageToken ?? ''
  } while (token !== '')
  assert.deepEqual(found, all)
  const bad = await refused('GET', '/namespaces?nextPageToken=nonsense', 400)
  assert.deepEqual([bad.code, /nextPageToken/.test(bad.message)], [3, true])
})

test('every problem of a body is named, and nothing is stored', async () => {
  const body = {
    name: 'broken',
    retention: '1h',
    other: 1,
    searchAttributes: { RunId: 'Keyword' },
    breaker: { openFor: 5 },
  }
  const { code, message } = await refused('POST', '/namespaces', 400, body)
  assert.equal(code, 3)
  for (const part of ['retention must be a duration', 'other is not', '"RunId"', 'breaker.openFor must be a string']) {
    assert.ok(message.includes(part), `${part} is not in: ${message}`)
  }
  assert.equal((await refused('POST', '/namespaces', 400, {})).message, 'name is required')
  assert.equal((await refused('GET', '/namespaces/broken', 404)).code, 5)
  const inverted = { retry: { initialInterval: '2s', maxInterval: '1ms' } }
  const pair = await refused('PATCH', '/namespaces/default', 400, inverted)
  assert.deepEqual([pair.code, pair.message], [3, 'retry.initialInterval must not be longer than maxInterval'])
})

test('snake_case is read as well', async () => {
  const name = await create({ request_timeout: '2s', allowed_addresses: [{ pattern: '*', allow_insecure: true }] })
  const { body } = await admin.get(`/namespaces/${name}`, 200)
  assert.deepEqual([body.requestTimeout, body.allowedAddresses], ['2s', [{ pattern: '*', allowInsecure: true }]])
})

test('snake_case is read inside members that are written in camelCase, and in queries', async () => {
  const name = await create({
    allowedAddresses: [{ pattern: '*', allow_insecure: true }],
    retry: { max_interval: '5m' },
  })
  const { body } = await admin.get(`/namespaces/${name}`, 200)
  assert.deepEqual(body.allowedAddresses, [{ pattern: '*', allowInsecure: true }])
  assert.equal(body.retry.maxInterval, '300s')
  const { body: first } = await admin.get('/namespaces?page_size=1', 200)
  assert.equal(first.namespaces.length, 1)
  const next = `next_page_token=${first.nextPageToken}`
  const { body: second } = await admin.get(`/namespaces?page_size=1&${next}`, 200)
  assert.notEqual(second.namespaces[0].name, first.namespaces[0].name)
  assert.equal((await refused('GET', '/namespaces?page_size=many', 400)).code, 3)
})

test('namespaces are taken and given as messages, too', async () => {
  const BINARY = 'application/x-protobuf'
  const call = async (method: string, path: string, body?: Uint8Array) => {
    const headers = { authorization: `Bearer ${server.adminToken}`, accept: BINARY, 'content-type': BINARY }
    const answer = await fetch(new URL(path, server.url), { method, headers, ...(body && { body: Buffer.from(body) }) })
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, BINARY])
    return new Uint8Array(await answer.arrayBuffer())
  }
  const wish = { name: 'as-a-message', searchAttributes: { Id: 'Keyword' }, policy: { requestTimeout: '2s' } }
  const made = await call(
    'POST',
    '/namespaces',
    toBinary(CreateNamespaceRequestSchema, createMessage(CreateNamespaceRequestSchema, wish)),
  )
  const shown = fromBinary(NamespaceSchema, made)
  assert.deepEqual(
    [shown.name, shown.searchAttributes, shown.policy?.requestTimeout],
    [wish.name, { Id: 'Keyword' }, '2s'],
  )
  const path = `/namespaces/${wish.name}`
  const change = createMessage(UpdateNamespaceRequestSchema, {
    namespace: 'ignored',
    description: 'x',
    inherit: ['requestTimeout'],
  })
  await call('PATCH', path, toBinary(UpdateNamespaceRequestSchema, change))
  const changed = fromBinary(NamespaceSchema, await call('GET', path))
  assert.deepEqual([changed.description, changed.policy?.requestTimeout, changed.overrides], ['x', '10s', []])
  const all: string[] = []
  let token = ''
  do {
    const page = fromBinary(
      ListNamespacesResponseSchema,
      await call('GET', `/namespaces?pageSize=2&nextPageToken=${token}`),
    )
    all.push(...page.namespaces.map((one) => one.name))
    token = Buffer.from(page.nextPageToken).toString('base64')
  } while (token !== '')
  const { body: listed } = await admin.get('/namespaces', 200)
  assert.deepEqual(
    all,
    listed.namespaces.map((one: { name: string }) => one.name),
  )
  assert.equal((await call('DELETE', path)).length, 0)
  const headers = { 'content-type': BINARY }
  assert.equal((await admin.post('/namespaces', 400, { body: '\xff', headers })).body.code, 3)
})

test('an answer is indented for who asks for that, and late for who gave no time', async () => {
  for (const path of ['/namespaces', '/namespaces/listed']) {
    const { text, body } = await admin.get(`${path}?pretty`, 200)
    assert.equal(text, JSON.stringify(body, null, 2))
  }
  const headers = { 'grpc-timeout': '0S' }
  assert.equal((await admin.get('/namespaces', 504, { headers })).body.code, 4)
})

test('a name that is taken is ALREADY_EXISTS, and an unknown one NOT_FOUND with the failure of the source', async () => {
  const name = await create()
  assert.equal((await refused('POST', '/namespaces', 409, { name })).code, 6)
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const { code, message, details } = await refused(
      method,
      '/namespaces/nowhere',
      404,
      method === 'PATCH' ? {} : undefined,
    )
    assert.deepEqual([code, message], [5, 'namespace "nowhere" not found'])
    const type = 'type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure'
    assert.deepEqual(details, [{ '@type': type, namespace: 'nowhere' }])
  }
  for (const path of ['%00', 'a%20b', '%F0%9F%98%80', 'x'.repeat(3_000), '..%2Fdefault']) {
    await refused('GET', `/namespaces/${path}`, 404)
  }
})

test('the name of the path counts, not that of the body', async () => {
  const name = await create()
  const { body } = await admin.patch(`/namespaces/${name}`, 200, { body: { name: 'other', description: 'x' } })
  assert.deepEqual([body.name, body.description], [name, 'x'])
  await refused('GET', '/namespaces/other', 404)
})

test('the type of a search attribute never changes, and one can be removed and added again', async () => {
  const name = await create({ searchAttributes: { Total: 'Int' } })
  const path = `/namespaces/${name}`
  const retyped = await refused('PATCH', path, 400, { searchAttributes: { Total: 'Double' } })
  assert.deepEqual([retyped.code, /"Total" has the type Int/.test(retyped.message)], [9, true])
  const change = async (searchAttributes: object) =>
    (await admin.patch(path, 200, { body: { searchAttributes } })).body.searchAttributes
  assert.deepEqual(await change({ Region: 'Keyword' }), { Total: 'Int', Region: 'Keyword' })
  assert.deepEqual(await change({ Total: null }), { Region: 'Keyword' })
  assert.deepEqual(await change({ Total: 'Double' }), { Region: 'Keyword', Total: 'Double' })
})

test('what the settings list cannot be taken away', async () => {
  assert.equal((await refused('DELETE', '/namespaces/listed', 400)).code, 9)
  const removal = await refused('PATCH', '/namespaces/listed', 400, { searchAttributes: { Region: null } })
  assert.deepEqual([removal.code, /remove it from callbacks\.namespaces/.test(removal.message)], [9, true])
})

test('a namespace in which something runs is not deleted', async () => {
  const name = await create()
  const { id } = await callers.db.query
    .selectFrom('namespaces')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const run = { namespace_id: id, callback_id: 'c', run_id: newId(), request_id: 'r', destination_id: 1 }
  const running = {
    status: 1,
    state: 2,
    attempt: 0,
    transition_count: 1,
    created_at: 1,
    sort_at: Number.MAX_SAFE_INTEGER,
  }
  await callers.db.write((tx) =>
    tx.query
      .insertInto('callback_runs')
      .values({ ...run, ...running } as never)
      .execute(),
  )
  const { code, message } = await refused('DELETE', `/namespaces/${name}`, 400)
  assert.deepEqual([code, /terminate them first/.test(message)], [9, true])
  await admin.get(`/namespaces/${name}`, 200)
})

test('the default namespace can be deleted and made again', async () => {
  const { body } = await admin.get('/namespaces/default', 200)
  await admin.delete('/namespaces/default', 200)
  await refused('GET', '/namespaces/default', 404)
  const again = await admin.post('/namespaces', 200, { body: { name: 'default' } })
  assert.ok(again.body.createTime > body.createTime)
})

test('a secret rotates, is shown only when it is made, and never again anywhere', async () => {
  const [first, second] = [signingSecret(41), signingSecret(42)] as [string, string]
  const name = await create({ signing: { add: first } })
  const path = `/namespaces/${name}`
  const rotate = async (signing: object) => await admin.patch(path, 200, { body: { signing } })
  assert.deepEqual((await rotate({ add: second })).body.signing, { secretCount: 2 })
  const made = await rotate({ generate: true, drop: first })
  const { secretCount, generatedSecret } = made.body.signing
  assert.equal(secretCount, 2)
  assert.match(generatedSecret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(made.headers.get('cache-control'), 'private, no-store')
  assert.deepEqual((await rotate({ drop: 'oldest' })).body.signing, { secretCount: 1 })
  const last = await refused('PATCH', path, 400, { signing: { drop: 'oldest' } })
  assert.deepEqual([last.code, /add another one first/.test(last.message)], [9, true])
  const wrong = await refused('PATCH', path, 400, { signing: { drop: second } })
  assert.deepEqual([wrong.code, wrong.message.includes(second)], [9, false])
  const bad = await refused('PATCH', path, 400, { signing: { add: 'whsec_not+a+secret' } })
  assert.deepEqual([bad.code, bad.message.includes('not+a+secret')], [3, false])
  assert.deepEqual((await admin.get(path, 200)).body.overrides, ['signing'])

  const answers = [
    (await admin.get(path, 200)).text,
    (await admin.get('/namespaces', 200)).text,
    (await admin.get('/api/v2/audit/events?page[limit]=1000', 200)).text,
    JSON.stringify(await callers.db.query.selectFrom('namespaces').selectAll().execute()),
    JSON.stringify(await callers.db.query.selectFrom('audit_events').selectAll().execute()),
    JSON.stringify(await callers.db.query.selectFrom('idempotency_keys').selectAll().execute()),
    server.output(),
  ]
  for (const secret of [first, second, generatedSecret]) {
    const bytes = secret.slice('whsec_'.length)
    assert.ok(answers.every((text) => !text.includes(bytes)))
  }
})

test('an inherited secret goes on signing when one is added', async () => {
  const { body } = await admin.patch('/namespaces/listed', 200, { body: { signing: { generate: true } } })
  assert.equal(body.signing.secretCount, 2)
  const back = await admin.patch('/namespaces/listed', 200, { body: { signing: { secrets: null } } })
  assert.deepEqual([back.body.signing.secretCount, back.body.overrides], [1, []])
})

test('bodies that are no JSON or of another type are refused in the shape of the surface', async () => {
  const json = { 'content-type': 'application/json' }
  for (const [status, options] of [
    [400, { body: '{', headers: json }],
    [400, { body: '[]', headers: json }],
    [400, { body: '', headers: json }],
    [415, { body: 'name: a', headers: { 'content-type': 'application/yaml' } }],
  ] as const) {
    const { body } = await admin.post('/namespaces', status, options)
    assert.equal(body.code, 3)
  }
  const nothing = await admin.patch('/namespaces/default', 400, { body: 'null', headers: json })
  assert.equal(nothing.body.message, 'Request body is required')
  const { body, headers } = await admin.put('/namespaces/default', 405, { body: {} })
  assert.deepEqual([body.code, headers.get('allow')], [12, 'GET, HEAD, PATCH, DELETE, OPTIONS'])
})

test('a body of more than four mebibytes is refused before it is read', async () => {
  const { status, text } = await announceBody(server, '/namespaces', { bytes: 4_194_305 })
  assert.deepEqual([status, JSON.parse(text).code], [413, 3])
})

test('the description of the API tells every member that can be set', async () => {
  const { body } = await admin.get('/openapi.json', 200)
  const { NamespaceChange: change, Namespace: shown } = body.components.schemas
  for (const name of [
    'retention',
    'allowedAddresses',
    'searchAttributes',
    'signing',
    'retry',
    'breaker',
    'destination',
  ]) {
    assert.ok(change.properties[name] !== undefined && shown.properties[name] !== undefined, name)
  }
  assert.match(JSON.stringify(change.properties.retention), /How long closed callbacks are kept\. A duration from 1d/)
  assert.equal(body.paths['/namespaces/{namespace}'].patch['x-access'], 'org_management')
})
