import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../../src/platform/http/operation.ts'
import { exchange, parseAnswer, startPlatform } from './platform-server.ts'

function routes(server: FastifyInstance): void {
  const common = { method: 'GET', summary: 'Test', surface: 'instance', access: 'public', rateLimit: null } as const
  const response = { 200: Type.Object({ text: Type.String() }) }
  operation(server, {
    ...common,
    url: '/api/v1/instance/text/:length',
    operationId: 'GetText',
    schema: { params: Type.Object({ length: Type.Integer() }), response },
    etag: true,
    cacheControl: 'max-age=300, public',
    handler: async (request) => ({ text: 'x'.repeat(request.params.length) }),
  })
  operation(server, {
    ...common,
    method: 'POST',
    alsoBy: ['QUERY'],
    url: '/api/v1/search',
    operationId: 'Search',
    schema: { response },
    handler: async () => ({ text: '' }),
  })
  server.get('/hijacked', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/plain' })
    reply.raw.end('raw')
  })
}

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; form-action 'none'",
}

test('every response has the security headers and a request id, whoever writes it', async () => {
  await using platform = await startPlatform({ routes })
  const paths = [
    '/livez',
    '/nothing',
    '/%',
    '/hijacked',
    '/api/v1/instance/text/9',
    '/api/v1/instance/text/5000',
    '/metrics',
  ]
  for (const path of paths) {
    const response = await fetch(platform.url + path, { headers: { 'x-request-id': 'mine-1' } })
    for (const [name, value] of Object.entries(SECURITY))
      assert.equal(response.headers.get(name), value, `${path} ${name}`)
    assert.equal(response.headers.get('x-request-id'), 'mine-1', path)
    assert.equal(response.headers.get('set-cookie'), null)
  }
})

test('an id that could harm a header or a log line is replaced', async () => {
  await using platform = await startPlatform()
  const answer = parseAnswer(
    await exchange(platform.port, 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: a"b c\r\nConnection: close\r\n\r\n'),
  )
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
})

test('pages may have their own style sheet and nothing else', async () => {
  await using platform = await startPlatform()
  for (const path of ['/', '/docs']) {
    const response = await fetch(platform.url + path)
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'unsafe-inline'/,
    )
    assert.equal(response.headers.get('x-frame-options'), 'DENY')
  }
})

test('any page may call /api, and sees the headers it needs, also on an error', async () => {
  await using platform = await startPlatform({ routes })
  for (const path of ['/api/v1/instance/text/1', '/api/v1/nothing', '/api/%']) {
    const response = await fetch(platform.url + path)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /X-RateLimit-Remaining.*Deprecation/)
  }
  assert.equal((await fetch(`${platform.url}/v2/x`)).headers.get('access-control-allow-origin'), null)
})

test('a path that is served is shared across origins however much of it is percent-encoded, or with the host before it', async () => {
  await using platform = await startPlatform({ routes })
  const preflight = 'Access-Control-Request-Method: GET\r\n'
  const ask = async (method: string, target: string, more = '') => {
    const request = `${method} ${target} HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`
    const { status, headers } = parseAnswer(await exchange(platform.port, request))
    return [status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-methods')]
  }
  const methods = 'GET, POST, PUT, PATCH, DELETE, OPTIONS'
  for (const path of [
    '/api/v1/instance/text/1',
    '/%61pi/v1/instance/text/1',
    '/a%70%69/v%31/instance/t%65xt/1?a=%20',
  ]) {
    for (const target of [path, `http://x${path}`]) {
      assert.deepEqual(await ask('GET', target), [200, '*', undefined], target)
      assert.deepEqual(await ask('OPTIONS', target, preflight), [204, '*', methods], target)
    }
    const refused = path.replace(/1(\?.*)?$/, '1/nothing$1')
    assert.deepEqual(await ask('GET', refused), [404, '*', undefined])
    assert.deepEqual(await ask('GET', path, 'Host: y\r\n'), [400, '*', undefined], 'refused before it is routed')
    assert.deepEqual(await ask('GET', path, 'no header\r\n'), [400, '*', undefined], 'refused by the parser')
  }
  assert.deepEqual(await ask('GET', '/%76%32/x'), [404, undefined, undefined])
})

test('a preflight is answered for every path below /api, without credentials', async () => {
  await using platform = await startPlatform({ routes })
  const headers = {
    origin: 'https://app.example.org',
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'x-a, authorization',
  }
  const response = await fetch(`${platform.url}/api/v1/nothing`, { method: 'OPTIONS', headers })
  assert.deepEqual([response.status, await response.text()], [204, ''])
  assert.equal(response.headers.get('access-control-allow-methods'), 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
  assert.equal(response.headers.get('access-control-allow-headers'), 'x-a, authorization')
  assert.equal(response.headers.get('access-control-max-age'), '7200')
  const search = await fetch(`${platform.url}/api/v1/search`, { method: 'OPTIONS', headers })
  const methods = 'GET, POST, PUT, PATCH, DELETE, QUERY, OPTIONS'
  assert.equal(search.headers.get('access-control-allow-methods'), methods, 'where it is served')
  const plain = await fetch(`${platform.url}/livez`, { method: 'OPTIONS' })
  assert.deepEqual([plain.status, plain.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
})

test('answers are compressed above 1 KiB, and say that they vary', async () => {
  await using platform = await startPlatform({ routes })
  const get = async (length: number, coding: string) => {
    const request = `GET /api/v1/instance/text/${length} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`
    const answer = parseAnswer(await exchange(platform.port, request))
    return { ...answer, bytes: Buffer.from(answer.body, 'latin1') }
  }
  const expected = JSON.stringify({ text: 'x'.repeat(5000) })
  const br = await get(5000, 'gzip, br')
  assert.deepEqual([br.headers.get('content-encoding'), br.headers.get('vary')], ['br', 'Accept-Encoding'])
  assert.equal(brotliDecompressSync(br.bytes).toString(), expected)
  assert.equal(Number(br.headers.get('content-length')), br.bytes.length)
  const gz = await get(5000, 'gzip')
  assert.equal(gunzipSync(gz.bytes).toString(), expected)
  const plain = await get(5000, 'identity')
  assert.deepEqual([plain.body, plain.headers.get('vary')], [expected, 'Accept-Encoding'])
  const small = await get(100, 'gzip, br')
  assert.deepEqual([small.headers.get('content-encoding'), small.headers.get('vary')], [undefined, undefined])
  assert.equal(br.headers.get('etag'), plain.headers.get('etag'))
})

test('a caller who has the document gets 304, with the headers that belong to it', async () => {
  await using platform = await startPlatform({ routes })
  const url = `${platform.url}/api/v1/instance/text/2000`
  const etag = (await fetch(url)).headers.get('etag') as string
  assert.equal((await fetch(url, { method: 'HEAD' })).headers.get('etag'), etag)
  for (const sent of [etag, '*', `"other", ${etag}`]) {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method, headers: { 'if-none-match': sent } })
      assert.deepEqual([response.status, await response.text()], [304, ''], method)
      assert.equal(response.headers.get('etag'), etag)
      assert.equal(response.headers.get('cache-control'), 'max-age=300, public')
      assert.equal(response.headers.get('content-type'), null)
      assert.equal(response.headers.get('content-length'), null)
    }
  }
  assert.equal((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status, 200)
})

test('the client address is what a trusted proxy says, and nobody else', async () => {
  const address = (server: FastifyInstance) => void server.get('/address', async (request) => ({ ip: request.ip }))
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  await using direct = await startPlatform({ routes: address })
  assert.deepEqual(await (await fetch(`${direct.url}/address`, { headers })).json(), { ip: '127.0.0.1' })
  await using behind = await startPlatform({ routes: address, settings: { trusted_proxies: ['127.0.0.0/8'] } })
  assert.deepEqual(await (await fetch(`${behind.url}/address`, { headers })).json(), { ip: '203.0.113.9' })
  const spoofed = { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' }
  assert.deepEqual(await (await fetch(`${behind.url}/address`, { headers: spoofed })).json(), { ip: '203.0.113.9' })
  // Some proxies write the port behind an address, also behind that of a proxy before them.
  const ported = { 'x-forwarded-for': '203.0.113.9, 127.0.0.2:5678, [::ffff:127.0.0.3]:5678' }
  assert.deepEqual(await (await fetch(`${behind.url}/address`, { headers: ported })).json(), { ip: '203.0.113.9' })
})
