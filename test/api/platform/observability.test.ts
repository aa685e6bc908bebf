import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../../src/platform/http/operation.ts'
import type { OpenApiDocument } from '../../../src/platform/http/pages/openapi.ts'
import type { Readiness } from '../../../src/platform/http/platform.ts'
import { createLogger } from '../../../src/platform/logging/logger.ts'
import { listenMetrics } from '../../../src/platform/telemetry/listen-metrics.ts'
import { ADA, exchange, startPlatform } from './platform-server.ts'

function routes(server: FastifyInstance): void {
  operation(server, {
    method: 'PATCH',
    url: '/api/v2/users/:user_id',
    operationId: 'UpdateUser',
    summary: 'Change a user <b>',
    surface: 'users',
    access: 'user_access_manage',
    rateLimit: 'users_write',
    schema: {
      params: Type.Object({ user_id: Type.String() }),
      querystring: Type.Object({ 'page[size]': Type.Optional(Type.Integer({ minimum: 1 })) }),
      body: Type.Object({ name: Type.String() }),
      response: { 200: Type.Object({ id: Type.String() }, { $id: 'User' }), 204: null },
    },
    handler: async (request) => ({ id: request.params.user_id }),
  })
  operation(server, {
    method: 'GET',
    url: '/v2/:project_id/files/*',
    operationId: 'GetFile',
    summary: 'Get a file',
    surface: 'knowledge',
    access: 'public',
    rateLimit: null,
    schema: { params: Type.Object({ project_id: Type.String(), '*': Type.String() }), response: { 204: null } },
    handler: async () => {},
  })
}

const admin = { authorization: 'Bearer admin' }

test('liveness and readiness say one word, and why not', async () => {
  let readiness: Readiness = { ready: true }
  await using platform = await startPlatform({ readiness: async () => readiness })
  const get = async (path: string) => {
    const response = await fetch(platform.url + path)
    return [response.status, await response.json()]
  }
  assert.deepEqual(await get('/livez'), [200, { status: 'ok' }])
  assert.deepEqual(await get('/readyz'), [200, { status: 'ready' }])
  readiness = { ready: false, reason: 'storage does not answer' }
  assert.deepEqual(await get('/readyz'), [503, { status: 'not ready: storage does not answer' }])
  assert.deepEqual(await get('/livez'), [200, { status: 'ok' }])
})

test('one line per request tells who asked for what, and no secret, query or path', async () => {
  await using platform = await startPlatform({ routes })
  const headers = { ...admin, 'content-type': 'application/json', 'x-request-id': 'r-1' }
  const url = `${platform.url}/api/v2/users/s3cret-path?token=s3cret-query`
  await fetch(url, { method: 'PATCH', headers, body: '{"name":"s3cret-body"}' })
  await fetch(`${platform.url}/s3cret-unknown`)
  const lines = platform
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { time, micros, ...first } = lines[0]
  assert.deepEqual(first, {
    level: 'info',
    name: 'http',
    request: 'r-1',
    method: 'PATCH',
    route: '/api/v2/users/:user_id',
    status: 200,
    principal: ADA,
    msg: 'request',
  })
  assert.ok(Date.parse(time) > 0 && micros >= 0)
  assert.deepEqual([lines[1].route, lines[1].status], ['(none)', 404])
  assert.equal(lines.length, 2)
  assert.doesNotMatch(platform.log(), /s3cret|Bearer/)
})

test('the access log can be switched off', async () => {
  await using platform = await startPlatform({ accessLog: false })
  await fetch(`${platform.url}/livez`)
  assert.equal(platform.log(), '')
})

test('metrics are for administrators, and count requests by operation and class of status', async () => {
  await using platform = await startPlatform({ routes })
  await fetch(`${platform.url}/livez`)
  await fetch(`${platform.url}/nothing`)
  assert.equal((await fetch(`${platform.url}/metrics`)).status, 401)
  assert.equal((await fetch(`${platform.url}/metrics`, { headers: { authorization: 'Bearer reader' } })).status, 403)
  const response = await fetch(`${platform.url}/metrics`, { headers: admin })
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  assert.match(text, /^# TYPE http_request_duration_seconds histogram$/m)
  assert.match(text, /^http_request_duration_seconds_count\{operation="GetLiveness",status="2xx"\} 1$/m)
  assert.match(text, /^http_request_duration_seconds_bucket\{operation="GetLiveness",status="2xx",le="\+Inf"\} 1$/m)
  assert.match(text, /^http_request_duration_seconds_count\{operation="none",status="4xx"\} 1$/m)
  assert.match(text, /^http_request_duration_seconds_count\{operation="GetMetrics",status="4xx"\} 2$/m)
})

test('metrics on their own port, which the log names, need no credentials and serve nothing else', async () => {
  await using platform = await startPlatform()
  const lines: string[] = []
  const log = createLogger({ level: 'info', format: 'json', destination: { write: (line) => void lines.push(line) } })
  await using _listening = await listenMetrics(platform.server.platform.metrics, { host: '127.0.0.1', port: 0, log })
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(lines.join('')) ?? []
  assert.match(await (await fetch(url)).text(), /http_request_duration_seconds/)
  assert.equal((await fetch(new URL('/livez', url))).status, 404)
  assert.equal((await fetch(url, { method: 'POST' })).status, 405)
})

test('a caller who goes away is logged as such', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let gone: Promise<unknown> = Promise.resolve()
  await using platform = await startPlatform({
    routes: (server) =>
      void server.get('/slow', async (request, reply) => {
        gone = once(request.raw.socket, 'close').then(() => reply.send('late'))
        finish()
        await gone
        return reply
      }),
  })
  const controller = new AbortController()
  const call = fetch(`${platform.url}/slow`, { signal: controller.signal })
  await finished
  controller.abort()
  await assert.rejects(call)
  await gone
  assert.match(platform.log(), /"route":"\/slow","status":499/)
})

test('every path in the OpenAPI document names its parameters, the rest of an address included', async () => {
  await using platform = await startPlatform({ routes })
  const document = (await (await fetch(`${platform.url}/openapi.json`)).json()) as OpenApiDocument
  assert.ok(document.paths['/v2/{project_id}/files/{uri}'])
  for (const [path, methods] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(.*?)\}/g)].map(([, name]) => name)
    for (const { parameters } of Object.values(methods)) {
      const declared = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name)
      assert.deepEqual(declared, named, path)
    }
  }
})

test('the OpenAPI document describes every operation, its access and the errors of its surface', async () => {
  await using platform = await startPlatform({ routes })
  const response = await fetch(`${platform.url}/openapi.json`)
  const document = (await response.json()) as OpenApiDocument
  assert.equal(document.openapi, '3.1.0')
  assert.equal(document.info.version, '1.2.3')
  const update = document.paths['/api/v2/users/{user_id}']?.patch
  assert.ok(update)
  assert.equal(update.operationId, 'UpdateUser')
  assert.equal(update['x-access'], 'user_access_manage')
  assert.deepEqual(update.security, [{ bearer: [] }, { apiKey: [], applicationKey: [] }])
  assert.deepEqual(
    update.parameters.map(({ name, in: place, required }) => [name, place, required]),
    [
      ['user_id', 'path', true],
      ['page[size]', 'query', false],
    ],
  )
  assert.deepEqual(Object.keys(update.requestBody?.content ?? {}), ['application/json', 'application/vnd.api+json'])
  assert.deepEqual(Object.keys(update.responses), [
    '200',
    '204',
    '400',
    '401',
    '403',
    '404',
    '413',
    '415',
    '429',
    'default',
  ])
  assert.deepEqual(update.responses['429'], { $ref: '#/components/responses/UsersError' })
  assert.deepEqual(document.components.schemas.User, {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' } },
  })
  assert.ok(document.components.securitySchemes.bearer)
  assert.equal(document.paths['/livez']?.get?.security.length, 0)
  const again = await fetch(`${platform.url}/openapi.json`, {
    headers: { 'if-none-match': response.headers.get('etag') ?? '' },
  })
  assert.equal(again.status, 304)
})

test('the documentation is one page that needs neither scripts nor the network', async () => {
  await using platform = await startPlatform({ routes })
  const page = await (await fetch(`${platform.url}/docs`)).text()
  assert.doesNotMatch(page, /<script|<link|<img|src=|@import|url\(|https?:\/\/(?!localhost)/)
  for (const text of [
    'PATCH /api/v2/users/{user_id}',
    'user_access_manage',
    'users_write',
    'page[size]',
    'Change a user &lt;b&gt;',
  ]) {
    assert.ok(page.includes(text), text)
  }
  const { port } = new URL(platform.url)
  assert.ok(page.includes(`curl -X PATCH &quot;http://localhost:${port}/`), 'examples call the server that shows them')
  assert.match(page, /<html lang="en">.*<h1>.*<nav aria-label=.*<main id="content">/s)
  assert.match(page, /prefers-color-scheme:dark/)
  const landing = await (await fetch(platform.url)).text()
  assert.match(landing, /href="\/docs".*href="\/openapi.json"/s)
  assert.match(landing, /console is not part of this version/)
})

test('nothing about a request stays behind when its connection is gone', async () => {
  await using platform = await startPlatform()
  await Promise.all(
    Array.from({ length: 50 }, () =>
      exchange(platform.port, 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    ),
  )
  const connections = await new Promise((resolve) =>
    platform.server.server.getConnections((_, count) => resolve(count)),
  )
  assert.equal(connections, 0)
})
