import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../../src/platform/errors/app-error.ts'
import { operation } from '../../../src/platform/http/operation.ts'
import type { Surface } from '../../../src/platform/http/surface.ts'
import { exchange, parseAnswer, startPlatform } from './platform-server.ts'

const PREFIXES: Record<Surface, string> = {
  users: '/api/v2',
  instance: '/api/v1/admin',
  knowledge: '/v2',
  callbacks: '/namespaces',
  platform: '',
}

function routes(server: FastifyInstance): void {
  for (const [surface, prefix] of Object.entries(PREFIXES) as [Surface, string][]) {
    const common = { surface, summary: 'Test', access: 'public', rateLimit: null } as const
    operation(server, {
      ...common,
      method: 'POST',
      url: `${prefix}/things`,
      operationId: `Create${surface}`,
      schema: { body: Type.Object({ name: Type.String(), size: Type.Integer() }), response: { 200: Type.Object({}) } },
      handler: async () => ({}),
    })
    operation(server, {
      ...common,
      method: 'GET',
      url: `${prefix}/broken/:how`,
      operationId: `Break${surface}`,
      schema: { response: { 200: Type.Object({}) } },
      async handler(request, reply) {
        reply.header('etag', '"x"')
        const { how } = request.params as { how: string }
        if (how === 'storage') throw new AppError('unavailable', 'Storage does not answer')
        if (how === 'unoffered') throw new AppError('unimplemented', 'This is not offered')
        throw new Error('a secret of ours')
      },
    })
  }
}

const bodies: Record<Surface, (text: string | string[], code: number) => object> = {
  users: (text) => ({ errors: [text].flat() }),
  instance: (text) => ({ error: text }),
  knowledge: (text) => ({ detail: text }),
  callbacks: (text, code) => ({ code, message: text, details: [] }),
  platform: (text) => ({ error: text }),
}

for (const [surface, prefix] of Object.entries(PREFIXES) as [Surface, string][]) {
  test(`every kind of error on the ${surface} surface has its shape`, async () => {
    await using platform = await startPlatform({ routes })
    const call = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(platform.url + prefix + path, init)
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(response.headers.get('cache-control'), 'private, no-store')
      assert.equal(response.headers.get('etag'), null)
      return { response, status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const post = (body: string, type = 'application/json') =>
      call('/things', { method: 'POST', body, headers: { 'content-type': type } })
    const shape = bodies[surface]

    const unknown = await call('/nothing/here', { method: 'POST', body: 'x' })
    assert.deepEqual([unknown.status, unknown.body], [404, shape('Not Found', 5)])

    const wrong = await call('/things', { method: 'DELETE' })
    const notAllowed = surface === 'instance' ? 'Method Not Allowed' : 'Method not allowed'
    assert.deepEqual([wrong.status, wrong.body], [405, shape(notAllowed, 12)])
    assert.equal(wrong.response.headers.get('allow'), 'POST, OPTIONS')
    const encoded405 = await fetch(`${platform.url}${prefix.replace('v', '%76')}/t%68ings`, { method: 'DELETE' })
    assert.deepEqual([encoded405.status, await encoded405.json()], [405, shape(notAllowed, 12)])

    const noJson = await post('{')
    assert.equal(noJson.status, surface === 'knowledge' ? 422 : 400)
    if (surface === 'knowledge') delete noJson.body.errors
    assert.deepEqual(noJson.body, shape('Request body is not valid JSON', 3))
    assert.deepEqual((await post('x', 'text/plain')).body, shape('Unsupported content type', 3))
    assert.equal((await post('x', 'text/plain')).status, 415)
    const large = await post(JSON.stringify({ name: 'x'.repeat(100_000) }))
    assert.deepEqual([large.status, large.body], [413, shape('Request body is too large', 3)])

    const defect = await call('/broken/defect')
    assert.equal(defect.status, 500)
    const reference = `Internal error (request ${defect.response.headers.get('x-request-id')})`
    assert.deepEqual(defect.body, shape(surface === 'instance' ? 'Internal Server Error' : reference, 13))
    assert.match(platform.log(), /a secret of ours/)

    const storage = await call('/broken/storage')
    const temporary = 'There was a temporary problem serving your request, please try again'
    assert.deepEqual(storage.body, shape(surface === 'instance' ? temporary : 'Storage does not answer', 14))
    assert.deepEqual([storage.status, storage.response.headers.get('retry-after')], [503, '5'])

    const unoffered = await call('/broken/unoffered')
    assert.equal(unoffered.status, 501)
    assert.doesNotMatch(platform.log(), /This is not offered/, 'any caller could fill the log with it')

    const encoded = await call('/%E0%A4%A')
    assert.deepEqual([encoded.status, encoded.body], [400, shape('The path is not validly percent-encoded', 3)])
  })
}

test('a malformed request is 400 or 422 as the surface says, with every problem', async () => {
  await using platform = await startPlatform({ routes })
  const post = async (prefix: string, body?: string) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${platform.url}${prefix}/things`, { method: 'POST', headers, body })
    return [response.status, await response.json()]
  }
  const wrong = '{"size":"1"}'
  const problems = ['name is required', 'size must be an integer']
  assert.deepEqual(await post('/api/v2', wrong), [400, { errors: problems }])
  assert.deepEqual(await post('/v2', wrong), [
    422,
    {
      detail: problems.join('; '),
      errors: [
        { loc: ['body', 'name'], msg: 'name is required', type: 'required' },
        { loc: ['body', 'size'], msg: 'size must be an integer', type: 'type' },
      ],
    },
  ])
  assert.deepEqual(await post('/api/v1/admin', wrong), [
    422,
    {
      error: `Validation failed: ${problems.join(', ')}`,
      details: {
        name: [{ error: 'ERR_REQUIRED', description: 'is required' }],
        size: [{ error: 'ERR_TYPE', description: 'must be an integer' }],
      },
    },
  ])
  assert.deepEqual(await post('/namespaces', wrong), [
    400,
    { code: 3, message: `Invalid request: ${problems.join('; ')}`, details: [] },
  ])
  assert.deepEqual(await post('/api/v2', '[]'), [400, { errors: ['Request body must be an object'] }])
  assert.deepEqual(await post('/api/v2', ''), [400, { errors: ['Request body is required'] }])
  assert.deepEqual(await post('/api/v2', '{"__proto__":{}}'), [
    400,
    { errors: ['Request body has a member named __proto__ or constructor.prototype, which is not allowed'] },
  ])
})

test('the caller sees 413 also when it sends far more than is read, whether it told the length or not', async () => {
  await using platform = await startPlatform({ routes })
  const body = 'x'.repeat(30_000_000)
  const headers = { 'content-type': 'application/json' }
  const told = await fetch(`${platform.url}/api/v2/things`, { method: 'POST', headers, body })
  assert.equal(told.status, 413)
  const stream = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 300; i++) controller.enqueue(Buffer.from(body.slice(0, 100_000)))
      controller.close()
    },
  })
  const init = { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit
  assert.equal((await fetch(`${platform.url}/api/v2/things`, init)).status, 413)
})

test('requests that the parser refuses are answered in the shape of their path', async () => {
  await using platform = await startPlatform({ routes, settings: { header_limit: 4096 } })
  const cases: [string, number, object][] = [
    ['GET /api/v2/users HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400, { errors: ['The request is not valid HTTP'] }],
    [
      `GET /v2/x HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(9000)}\r\n\r\n`,
      431,
      { detail: 'The request headers are too large' },
    ],
    [`GET /api/v2/${'u'.repeat(9000)}`, 414, { errors: ['The request address is too long'] }],
    [`GET /v2/${'u'.repeat(9000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, { detail: 'The request address is too long' }],
    [`GET /v2/${'u'.repeat(3500)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, { detail: 'The request address is too long' }],
    ['GET /namespaces/x HTTP/1.1\r\n\r\n', 400, { code: 3, message: 'The Host header is missing', details: [] }],
    [
      'GET /v2/x HTTP/1.1\r\nHost: a.example\r\nX: y\r\nhOST: b.example\r\n\r\n',
      400,
      { detail: 'The Host header is given more than once' },
    ],
    ['CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', 501, { error: 'This server is no proxy' }],
    ['\x16\x03\x01\x02\x00\x01\x00', 400, { error: 'The request is not valid HTTP' }],
    [
      'POST /api/v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      { errors: ['The request is not valid HTTP'] },
    ],
  ]
  for (const [request, status, body] of cases) {
    const answer = parseAnswer(await exchange(platform.port, request))
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, body], request.slice(0, 60))
    assert.equal(answer.headers.get('connection'), 'close')
    assert.match(answer.headers.get('x-request-id') ?? '', /^[\w-]+$/)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  }
})

test('a body that breaks HTTP is refused at once in the shape of its path, and its connection ends', async () => {
  await using platform = await startPlatform({ routes })
  const head = (path: string, coding = 'chunked') =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n`
  const broken = 'The request is not valid HTTP'
  const coding = 'Of the transfer codings only chunked is known here'
  const chunks = '2\r\n{}\r\n0\r\n\r\n'
  const extensions = 'The chunk extensions of the request body are too large'
  const trailers = Array.from({ length: 20_000 }, (_, n) => `X-${n}: y\r\n`).join('')
  const cases: [string, number, object][] = [
    [`${head('/v2/things')}zz\r\n{}\r\n0\r\n\r\n`, 400, { detail: broken }],
    [`${head('/namespaces/things')}2\r\n{}xx`, 400, { code: 3, message: broken, details: [] }],
    [`${head('/v2/nothing')}zz\r\n`, 400, { detail: broken }],
    [`${head('/api/v2/things')}2;x=${'y'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`, 400, { errors: [extensions] }],
    [`${head('/v2/things')}2\r\n{}\r\n0\r\n${trailers}\r\n`, 431, { detail: 'The request headers are too large' }],
    [head('/v2/things', 'gzip'), 400, { detail: broken }],
    [`${head('/v2/things', 'gzip, chunked')}${chunks}`, 501, { detail: coding }],
    [`${head('/api/v2/things', 'x\r\nTransfer-Encoding: chunked')}${chunks}`, 501, { errors: [coding] }],
    [`GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunks}`, 501, { error: coding }],
  ]
  for (const [request, status, body] of cases) {
    const answer = parseAnswer(await exchange(platform.port, request))
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, body], request.slice(0, 60))
    assert.equal(answer.headers.get('connection'), 'close')
  }
  for (const plain of ['chunked', 'CHUNKED', ', chunked']) {
    assert.match(
      await exchange(platform.port, `${head('/v2/nothing', plain)}${chunks}BROKEN\r\n\r\n`),
      /^HTTP\/1\.1 404 /,
    )
  }
})
