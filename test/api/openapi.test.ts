// What whoever generates a client from /openapi.json relies on, asked of the real server.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Compile } from 'typebox/schema'
import type { OpenApiDocument, OpenApiOperation } from '../../src/platform/http/pages/openapi.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

let server: TestServer
let api: TestClient
let document: OpenApiDocument
let project: string

before(async () => {
  server = await startServer({ mode: 'serve' })
  api = client(server)
  project = (await api.get('/v2/projects', 200)).body.projects[0].external_id
  document = (await api.get<OpenApiDocument>('/openapi.json', 200)).body
})
after(() => server.stop())

function find(operationId: string): { method: string; path: string; operation: OpenApiOperation } {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === operationId) return { method: method.toUpperCase(), path, operation }
  throw new Error(`There is no ${operationId}`)
}

function answersOf(operationId: string): string[] {
  const response = find(operationId).operation.responses['200']
  assert.ok(response && 'content' in response)
  return Object.keys(response.content ?? {})
}

const takenBy = (operationId: string) => Object.keys(find(operationId).operation.requestBody?.content ?? {})

test('pictures, files and lines stand in the OpenAPI document with their media types', async () => {
  const pictures = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'multipart/form-data']
  assert.deepEqual(takenBy('PutInstanceThumbnail'), pictures)
  assert.deepEqual(takenBy('PutInstanceIcon'), pictures)
  assert.ok(find('PutInstanceIcon').operation.responses['413'])
  assert.deepEqual(takenBy('ImportDomainBlocks'), ['application/json', 'application/vnd.api+json', 'text/csv'])
  assert.deepEqual(answersOf('ImportDomainBlocks'), ['application/json'], 'it is answered as JSON only')
  assert.deepEqual(answersOf('ListAuditEvents'), ['application/json', 'application/x-ndjson'])
  const lines = await api.get('/api/v2/audit/events', 200, { headers: { accept: 'application/x-ndjson' } })
  assert.equal(lines.headers.get('content-type'), 'application/x-ndjson')
  const page = (await api.get('/docs', 200)).text
  assert.match(
    page,
    /admin\/instance\/icon&quot; \\\n.*\n {2}-H &quot;Content-Type: image\/jpeg&quot; \\\n {2}--data-binary @FILE/,
  )
})

test('the page of the documentation shows every member of the OpenAPI document, and calls the server that shows it', async () => {
  const page = (await api.get('/docs', 200)).text
  const members = new Set<string>()
  JSON.stringify(document, (key, value) => {
    if (key === 'properties') for (const name of Object.keys(value)) members.add(name)
    return value
  })
  assert.ok(members.size > 300)
  const isShown = (name: string) => page.includes(`&quot;${name}&quot;:`) || page.includes(`&quot;${name}?&quot;:`)
  assert.deepEqual(
    [...members].filter((name) => !isShown(name)),
    [],
  )
  for (const name of ['InstanceV2', 'temporal.api.common.v1.Callback', 'UsersError'])
    assert.ok(page.includes(`<details id="schema-${name}">`), name)
  assert.ok(page.includes(`curl &quot;http://localhost:${server.port}/v2/projects&quot;`))
})

test('limits of a destination may be null in the OpenAPI document, as they may', async () => {
  const { path, operation } = find('UpdateDestination')
  const taken = Compile(operation.requestBody?.content['application/json']?.schema as object)
  const at = path.replace('{namespace}', 'default').replace('{destination}', encodeURIComponent('https://a.example'))
  for (const body of [
    { concurrency: null, rps: null },
    { concurrency: 5, rps: 0.5, paused: true },
  ]) {
    assert.ok(taken.Check(body), JSON.stringify(body))
    await api.patch(at, 200, { body })
  }
  assert.ok(!taken.Check({ paused: null }) && !taken.Check({ concurrency: '5' }))
})

test('what a check in code refuses, the OpenAPI document does not allow', async () => {
  const keys = (name: string) => ({ data: { type: 'api_keys', attributes: { name } } })
  const applicationKey = (scopes: string[]) => ({
    data: { type: 'application_keys', attributes: { name: 'narrow', scopes } },
  })
  const refused: [operationId: string, status: number, body: object][] = [
    ['CreateEntity', 422, { title: '' }],
    ['projects_create', 422, { name: '' }],
    ['WriteSearchPrompt', 422, { query: '' }],
    ['CreateAPIKey', 400, keys('')],
    ['CreateCurrentUserApplicationKey', 400, applicationKey(['everything'])],
    ['CreateNamespace', 400, { name: 'a b' }],
    ['CreateInstanceRule', 422, { text: '' }],
    ['CreateInstanceRule', 422, { text: 'x'.repeat(301) }],
    ['CreateDomainBlock', 422, { domain: '' }],
    ['CreateInstanceTerms', 422, { text: '' }],
  ]
  for (const [operationId, status, body] of refused) {
    const { method, path, operation } = find(operationId)
    const { $ref, ...schema } = operation.requestBody?.content['application/json']?.schema ?? {}
    const taken = Compile(
      $ref === undefined ? schema : (document.components.schemas[String($ref).split('/').at(-1) as string] as object),
    )
    assert.ok(!taken.Check(body), operationId)
    await api.call(method, path.replace('{project_id}', project), status, { body })
  }
  const key = find('CreateEntity').operation.parameters.find(({ name }) => name === 'Idempotency-Key')
  assert.ok(Compile(key?.schema as object).Check('import-1') && !Compile(key?.schema as object).Check('import 1'))
  assert.ok(!JSON.stringify(document).includes('"documented"'))
})

test('settings are patched as the media type for that, too, which the OpenAPI document names', async () => {
  const type = 'application/merge-patch+json'
  assert.ok(takenBy('UpdateInstanceSettings').includes(type))
  await api.patch('/api/v1/admin/instance', 200, { body: '{"title": "Patched"}', headers: { 'content-type': type } })
})

test('no member of a query is required in the OpenAPI document, as none is', () => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const { operationId, parameters } of Object.values(methods))
      for (const { name, in: place, required } of parameters)
        assert.equal(required, place === 'path', `${operationId} (${path}): ${name}`)
})

test('each operation that heeds Request-Timeout names it in the OpenAPI document', async () => {
  const declared = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ parameters }) => [path, parameters.some(({ name }) => name === 'Request-Timeout')]),
  )
  for (const [path, isDeclared] of declared)
    assert.equal(isDeclared, String(path).startsWith('/namespaces'), String(path))
  await api.get('/namespaces', 504, { headers: { 'request-timeout': '0ms' } })
  await api.get('/namespaces/default/callbacks', 504, { headers: { 'request-timeout': '0ms' } })
  await api.get('/namespaces/default/callbacks', 400, { headers: { 'request-timeout': 'soon' } })
})

test('each operation that asks If-Match names it in the OpenAPI document, and asks it', async () => {
  const note = (await api.post(`/v2/${project}/knowledge/entities`, 201, { body: { title: 'Tagged' } })).body
  const user = (await api.get('/api/v2/current_user', 200)).body.data
  const roleBody = { data: { type: 'roles', attributes: { name: 'Tagged' } } }
  const role = (await api.post('/api/v2/roles', 200, { body: roleBody })).body.data
  const userBody = { data: { type: 'users', id: user.id, attributes: { title: 'New' } } }
  const bodies: Record<string, unknown> = {
    PutEntity: { title: 'Tagged', content: 'New' },
    EditEntity: { operation: 'append', content: 'New' },
    DeleteEntity: undefined,
    MoveEntity: { destination_path: 'elsewhere.md' },
    RestoreRevision: { version: 1 },
    UpdateUser: userBody,
    UpdateCurrentUser: userBody,
    UpdateRole: { data: { type: 'roles', id: role.id, attributes: { name: 'New' } } },
    DisableUser: undefined,
    DeleteRole: undefined,
  }
  const declared = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters }) => parameters.some(({ name, in: place }) => name === 'If-Match' && place === 'header'))
  assert.deepEqual(declared.map(({ operationId }) => operationId).sort(), Object.keys(bodies).sort())
  const ids: Record<string, string> = {
    user_id: user.id,
    role_id: role.id,
    project_id: project,
    entity_id: note.external_id,
  }
  for (const [operationId, body] of Object.entries(bodies)) {
    const { method, path, operation } = find(operationId)
    assert.ok(operation.responses['412'], operationId)
    const url = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] as string)
    await api.call(method, url, 412, { body, headers: { 'if-match': '"another"' } })
  }
  assert.ok(find('PutEntity').operation.parameters.some(({ name }) => name === 'If-None-Match'))
  await api.put(`/v2/${project}/knowledge/entities/${note.external_id}`, 412, {
    body: bodies.PutEntity,
    headers: { 'if-none-match': '*' },
  })
})

test('what an error says beside its text is declared in the OpenAPI document', async () => {
  const closed = (name: string) => Compile({ ...document.components.schemas[name], additionalProperties: false })
  const knowledge = closed('KnowledgeError')
  const entities = `/v2/${project}/knowledge/entities`
  const note = (await api.post(entities, 201, { body: { title: 'Fresh' } })).body
  const answers = [
    await api.post(entities, 422, { body: {} }),
    await api.post(`/v2/${project}/knowledge/batch`, 422, {
      body: { atomic: true, operations: [{ op: 'create', title: '...' }] },
    }),
    await api.put(`${entities}/${note.external_id}`, 409, {
      body: { title: 'Fresh', content: 'New' },
      headers: { 'x-bm-cloud-note-base-checksum': 'another' },
    }),
  ]
  for (const { text, body } of answers) assert.ok(knowledge.Check(body), text)
  assert.deepEqual([...new Set(answers.flatMap(({ body }) => Object.keys(body)))].sort(), [
    'db_checksum',
    'detail',
    'errors',
    'index',
  ])
  const instance = closed('InstanceError')
  const refused = await api.post('/api/v1/admin/instance/rules', 422, { body: {} })
  assert.ok(instance.Check(refused.body), refused.text)
  assert.deepEqual(Object.keys(JSON.parse(refused.text).details), ['text'])
  const blocks = '/api/v1/admin/domain_blocks'
  await api.post(blocks, 200, { body: { domain: 'blocked.example' } })
  const others = [
    await api.post(blocks, 422, { body: { domain: 'blocked.example' } }),
    await api.post(`${blocks}/import?skip_bad_lines=false`, 422, {
      body: 'no domain\n',
      headers: { 'content-type': 'text/csv' },
    }),
  ]
  for (const { text, body } of others) assert.ok(instance.Check(body), text)
})

test('what settings hide or add, and where a picture went, stand in the OpenAPI document', async () => {
  await api.patch('/api/v1/admin/instance', 200, {
    body: { activity_api: false, peers: { enabled: false }, show_domain_blocks: 'disabled' },
  })
  const hidden = {
    GetInstanceActivity: '/api/v1/instance/activity',
    GetInstancePeers: '/api/v1/instance/peers',
    SearchInstancePeers: '/api/v1/peers/search?q=a',
    GetInstanceDomainBlocks: '/api/v1/instance/domain_blocks',
    GetInstanceDomainAllows: '/api/v1/instance/domain_allows',
  }
  for (const [operationId, path] of Object.entries(hidden)) {
    assert.equal((await api.get(path, 404)).text, '')
    const declared = find(operationId).operation.responses['404']
    assert.ok(declared && !('$ref' in declared) && declared.content === undefined, operationId)
  }
  await api.patch('/api/v1/admin/instance', 200, {
    body: { nodeinfo: { enabled: true }, compat: { mastodon_version: '4.5.0' } },
  })
  const { metadata } = (await api.get('/nodeinfo/2.0', 200)).body
  const { properties } = document.components.schemas.NodeInfo as { properties: { metadata: { properties: object } } }
  assert.deepEqual(Object.keys(metadata).sort(), Object.keys(properties.metadata.properties).sort())
  const gone = `/media/instance/thumbnail-1200x630-${'0'.repeat(32)}.jpg`
  assert.ok((await api.get(gone, 302)).headers.has('location'))
  assert.ok(find('GetInstanceImage').operation.responses['302'])
  assert.deepEqual(answersOf('GetInstanceImage'), ['image/*'], 'a PNG that is shipped, a JPEG of what is uploaded')
})

test('headers of answers stand in the OpenAPI document as they are sent', async () => {
  const entities = `/v2/${project}/knowledge/entities`
  const note = await api.post(entities, 201, { body: { title: 'With headers' } })
  const at = `${entities}/${note.body.external_id}`
  const roleBody = { data: { type: 'roles', attributes: { name: 'With headers' } } }
  const role = (await api.post('/api/v2/roles', 200, { body: roleBody })).body.data
  const user = (await api.get('/api/v2/current_user', 200)).body.data
  await api.post('/api/v1/admin/domain_allows', 200, { body: { domain: 'one.example' } })
  await api.post('/api/v1/admin/domain_allows', 200, { body: { domain: 'two.example' } })
  const answers: Record<string, { status: number; headers: Headers }> = {
    CreateEntity: note,
    GetEntity: await api.get(at, 200),
    GetResource: await api.get(`/v2/${project}/resource/${note.body.external_id}`, 200),
    PutEntity: await api.put(at, 200, { body: { title: 'With headers', content: 'New' } }),
    EditEntity: await api.patch(at, 200, { body: { operation: 'append', content: 'New' } }),
    ListRevisions: await api.get(`${at}/revisions`, 200),
    projects_create: await api.post('/v2/projects', 201, { body: { name: 'With headers' } }),
    GetRole: await api.get(`/api/v2/roles/${role.id}`, 200),
    ListRoles: await api.get('/api/v2/roles', 200),
    GetUser: await api.get(`/api/v2/users/${user.id}`, 200),
    GetInstance: await api.get('/api/v2/instance', 200),
    GetInstanceV1: await api.get('/api/v1/instance', 200),
    ListDomainAllows: await api.get('/api/v1/admin/domain_allows?limit=1', 200),
    ListCallbackExecutions: await api.get('/namespaces/default/callbacks', 200),
    SearchNotes: await api.post(`/v2/${project}/search/`, 200, { body: { text: 'headers' } }),
    GetAboutPage: await api.get('/about', 200),
  }
  const known = Object.keys(document.components.headers)
  for (const [operationId, { status, headers }] of Object.entries(answers)) {
    const response = find(operationId).operation.responses[status]
    assert.ok(response && 'headers' in response, operationId)
    const declared = Object.keys(response.headers).filter((name) => name !== 'Idempotent-Replayed')
    assert.deepEqual(declared.sort(), known.filter((name) => headers.has(name)).sort(), operationId)
  }
  const refused = {
    UsersError: await api.get('/api/v2/users/nobody', 404),
    InstanceError: await api.get('/api/v1/instance/x', 404),
  }
  for (const [name, { headers }] of Object.entries(refused)) {
    const response = document.components.responses[name]
    const declared = Object.keys((response as { headers: object }).headers).filter((one) => one !== 'Retry-After')
    assert.deepEqual(declared.sort(), known.filter((one) => headers.has(one)).sort(), name)
  }
})
