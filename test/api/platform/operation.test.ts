import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { Authenticator } from '../../../src/platform/auth/authenticator.ts'
import { anyOf, selfOr } from '../../../src/platform/http/entry/access.ts'
import { operation } from '../../../src/platform/http/operation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { ADA, principal, startPlatform } from './platform-server.ts'

const Answer = Type.Object({ who: Type.Union([Type.String(), Type.Null()]) })

function echo(server: FastifyInstance, over: Partial<Parameters<typeof operation>[1]> = {}): void {
  operation(server, {
    method: 'GET',
    url: '/api/v2/things/:user_id',
    operationId: 'GetThing',
    summary: 'Get a thing',
    surface: 'users',
    access: 'notes_read',
    rateLimit: null,
    schema: { response: { 200: Answer } },
    handler: async (request) => ({ who: request.principal?.userId ?? null, secret: 'never declared' }),
    ...over,
  })
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('credentials are judged first, then the permission; admin passes everything', async () => {
  await using platform = await startPlatform({ routes: (server) => echo(server) })
  const get = (init?: RequestInit) => fetch(`${platform.url}/api/v2/things/1`, init)
  const none = await get()
  assert.deepEqual([none.status, await none.json()], [401, { errors: ['Unauthorized'] }])
  assert.equal(none.headers.get('www-authenticate'), 'Bearer')
  const bad = await get(bearer('stolen'))
  assert.deepEqual([bad.status, await bad.json()], [403, { errors: ['Forbidden'] }])
  const csrf = await get(bearer('csrf'))
  assert.deepEqual([csrf.status, await csrf.json()], [403, { errors: ['The X-CSRF-Token header is missing or wrong'] }])
  for (const token of ['reader', 'admin']) {
    const good = await get(bearer(token))
    assert.deepEqual([good.status, await good.json()], [200, { who: ADA }])
    assert.equal(good.headers.get('cache-control'), 'private, no-cache')
  }
})

test('a missing permission is named, before anything of the request is looked at', async () => {
  const schema = { body: Type.Object({ a: Type.String() }), response: { 200: Answer } }
  await using platform = await startPlatform({
    routes: (server) => echo(server, { method: 'POST', access: 'user_access_manage', schema }),
  })
  const init = { method: 'POST', body: 'no json', ...bearer('reader') }
  const response = await fetch(`${platform.url}/api/v2/things/1`, init)
  assert.deepEqual(
    [response.status, await response.json()],
    [403, { errors: ['Missing permission: user_access_manage'] }],
  )
})

test('who sends a body slowly acts by the rights of its end, not of its beginning', async () => {
  const clock = new FakeClock()
  const schema = { body: Type.Object({}), response: { 200: Answer } }
  const post = async (takesMs: number) => {
    const judged = Promise.withResolvers<void>()
    let asked = 0
    const authenticator: Authenticator = {
      async authenticate() {
        judged.resolve()
        return asked++ === 0 ? { kind: 'ok', principal: principal(['notes_read']) } : { kind: 'bad' }
      },
    }
    const routes = (server: FastifyInstance) => echo(server, { method: 'POST', schema })
    await using platform = await startPlatform({ clock, authenticator, routes })
    async function* slowly() {
      yield Buffer.from('{')
      await judged.promise
      await clock.advance(takesMs)
      yield Buffer.from('}')
    }
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: ReadableStream.from(slowly()), duplex: 'half' } as const
    return (await fetch(`${platform.url}/api/v2/things/1`, init)).status
  }
  assert.deepEqual([await post(1_000), await post(1_001)], [200, 403])
})

test('a user may be let at its own things without the permission', async () => {
  await using platform = await startPlatform({
    routes(server) {
      echo(server, { access: selfOr('user_access_read', 'user_id') })
      echo(server, { access: anyOf('user_access_manage', 'notes_read'), url: '/api/v2/any', operationId: 'GetAny' })
    },
  })
  const status = async (path: string) => (await fetch(`${platform.url}/api/v2/${path}`, bearer('reader'))).status
  assert.equal(await status(`things/${ADA}`), 200)
  assert.equal(await status(`things/${ADA.toUpperCase()}`), 200)
  assert.equal(await status('things/somebody-else'), 403)
  assert.equal(await status('any'), 200)
})

test('where credentials are optional, bad ones are ignored', async () => {
  await using platform = await startPlatform({ routes: (server) => echo(server, { access: 'optional' }) })
  const who = async (init?: RequestInit) => (await fetch(`${platform.url}/api/v2/things/1`, init)).json()
  assert.deepEqual(await who(), { who: null })
  assert.deepEqual(await who(bearer('stolen')), { who: null })
  assert.deepEqual(await who(bearer('reader')), { who: ADA })
})

test('where only the token of a user counts, nothing else does', async () => {
  await using platform = await startPlatform({ routes: (server) => echo(server, { access: 'bearer' }) })
  const who = async (init?: RequestInit) => (await fetch(`${platform.url}/api/v2/things/1`, init)).json()
  assert.deepEqual(await who(), { who: null })
  assert.deepEqual(await who(bearer('stolen')), { who: null })
  assert.deepEqual(await who(bearer('keys')), { who: null }, 'a key pair is no token')
  assert.deepEqual(await who(bearer('half')), { who: null }, 'nor is a session without its second factor')
  assert.deepEqual(await who(bearer('reader')), { who: ADA })
})

test('a shortcut answers what it can, and leaves the rest to the operation', async () => {
  let isReady = true
  await using platform = await startPlatform({
    routes(server) {
      echo(server, { access: 'public', url: '/api/v2/short' })
      server.platform.shortcuts.set('/api/v2/short', (_request, response) => {
        if (isReady) response.end('short')
        return isReady
      })
    },
  })
  const ask = async (path: string, method = 'GET') => (await fetch(platform.url + path, { method })).text()
  assert.equal(await ask('/api/v2/short'), 'short')
  assert.equal(await ask('/api/v2/short', 'HEAD'), '')
  for (const path of ['/api/v2/short/', '/api/v2/short?a=1']) assert.equal(await ask(path), '{"who":null}')
  assert.match(await ask('/api/v2/short', 'POST'), /Method not allowed/)
  isReady = false
  assert.equal(await ask('/api/v2/short'), '{"who":null}')
})

test('the surfaces answer missing and bad credentials as their contracts say', async () => {
  await using platform = await startPlatform({
    routes(server) {
      echo(server, { surface: 'instance', url: '/api/v1/admin/x', operationId: 'A' })
      echo(server, { surface: 'callbacks', url: '/namespaces/x', operationId: 'B' })
      echo(server, { surface: 'knowledge', url: '/v2/x', operationId: 'C' })
    },
  })
  const answer = async (path: string, init?: RequestInit) => {
    const response = await fetch(platform.url + path, init)
    return [response.status, response.headers.get('www-authenticate'), await response.json()]
  }
  const realm = `Bearer realm="localhost:${platform.port}"`
  assert.deepEqual(await answer('/api/v1/admin/x'), [401, realm, { error: 'The access token is invalid' }])
  const invalid = [401, `${realm}, error="invalid_token"`, { error: 'The access token is invalid' }]
  assert.deepEqual(await answer('/api/v1/admin/x', bearer('stolen')), invalid)
  const codes = { code: 16, details: [] }
  assert.deepEqual(await answer('/namespaces/x'), [401, 'Bearer', { ...codes, message: 'Credentials are needed' }])
  assert.deepEqual(await answer('/namespaces/x', bearer('stolen')), [
    401,
    'Bearer',
    { ...codes, message: 'The credentials are not valid' },
  ])
  assert.deepEqual(await answer('/v2/x'), [401, 'Bearer', { detail: 'Unauthorized' }])
  assert.deepEqual(await answer('/v2/x', bearer('stolen')), [403, null, { detail: 'Forbidden' }])
})

test('bodies come in two media types, also with DELETE, and answers in the one that was asked for', async () => {
  const schema = { body: Type.Object({ who: Type.String() }), response: { 200: Answer } }
  await using platform = await startPlatform({
    routes: (server) =>
      echo(server, { method: 'DELETE', access: 'public', schema, handler: async (request) => request.body }),
  })
  for (const type of ['application/json', 'application/vnd.api+json; charset=utf-8']) {
    const headers = { 'content-type': type, accept: 'application/vnd.api+json' }
    const init = { method: 'DELETE', headers, body: '{"who":"ada"}' }
    const response = await fetch(`${platform.url}/api/v2/things/1`, init)
    assert.deepEqual(await response.json(), { who: 'ada' })
    assert.equal(response.headers.get('content-type'), 'application/vnd.api+json')
  }
  const compressed = {
    method: 'DELETE',
    body: 'x',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  }
  assert.equal((await fetch(`${platform.url}/api/v2/things/1`, compressed)).status, 415)
})

test('an empty body is none, whatever type it is said to have', async () => {
  await using platform = await startPlatform({ routes: (server) => echo(server, { method: 'POST', access: 'public' }) })
  const url = `${platform.url}/api/v2/things/1`
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
    const init = { method: 'POST', headers: { 'content-type': type } }
    assert.equal((await fetch(url, { ...init, body: '' })).status, 200, type)
    if (type !== 'application/json') assert.equal((await fetch(url, { ...init, body: '{}' })).status, 415, type)
  }
})

test('HEAD is served wherever GET is, a trailing slash is ignored, and aliases answer alike', async () => {
  await using platform = await startPlatform({
    routes: (server) => echo(server, { access: 'public', url: '/api/v2/things', aliases: ['/api/v2/things.json'] }),
  })
  for (const path of ['/api/v2/things', '/api/v2/things/', '/api/v2/things.json', '/api/v2/things?x=1']) {
    const response = await fetch(platform.url + path, { method: 'HEAD' })
    assert.deepEqual([response.status, response.headers.get('content-length'), await response.text()], [200, '12', ''])
  }
})

test('a handler may stream, and the stream is compressed for whoever takes it', async () => {
  const lines = Array.from({ length: 500 }, (_, i) => `{"line":${i}}\n`)
  await using platform = await startPlatform({
    routes: (server) =>
      echo(server, {
        access: 'public',
        url: '/export',
        surface: 'platform',
        schema: { response: { 200: { contentType: 'application/x-ndjson', description: 'Lines' } } },
        handler: (_request, reply) => reply.type('application/x-ndjson').send(Readable.from(lines)),
      }),
  })
  for (const coding of ['identity', 'gzip', 'br']) {
    const response = await fetch(`${platform.url}/export`, { headers: { 'accept-encoding': coding } })
    assert.equal(response.headers.get('content-encoding'), coding === 'identity' ? null : coding)
    assert.equal(await response.text(), lines.join(''))
  }
})

test('a stream that breaks off does not look whole, also where it would end with its connection', async () => {
  let read = Promise.withResolvers<void>()
  async function* pieces() {
    yield 'half of it'
    await read.promise
    throw new Error('broken')
  }
  await using platform = await startPlatform({
    routes: (server) =>
      echo(server, { access: 'public', handler: async (_request, reply) => reply.send(Readable.from(pieces())) }),
  })
  for (const [version, expected] of [
    ['1.0', 'ECONNRESET'],
    ['1.1', 'without a last chunk'],
  ]) {
    read = Promise.withResolvers()
    const socket = connect(platform.port, '127.0.0.1')
    socket.write(`GET /api/v2/things/1 HTTP/${version}\r\nHost: x\r\n\r\n`)
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes
      if (received.includes('half of it')) read.resolve()
    })
    const end = await once(socket, 'end').then(
      () => (received.endsWith('0\r\n\r\n') ? 'whole' : 'without a last chunk'),
      ({ code }) => code,
    )
    assert.equal(end, expected)
  }
})

test('a stream is not made for HEAD, which is told what GET would be', async () => {
  let made = 0
  async function* pieces() {
    for (; made < 100; made++) yield 'a piece\n'
  }
  const streams: Readable[] = []
  await using platform = await startPlatform({
    routes(server) {
      for (const type of ['text/csv', 'text/event-stream']) {
        echo(server, {
          access: 'public',
          url: `/${type}`,
          operationId: type,
          surface: 'platform',
          schema: { response: { 200: { contentType: type, description: 'Pieces' } } },
          handler: (_request, reply) => reply.type(type).send(streams[streams.push(Readable.from(pieces())) - 1]),
        })
      }
    },
  })
  const told = async (method: string, path: string, coding: string) => {
    const response = await fetch(platform.url + path, { method, headers: { 'accept-encoding': coding } })
    await response.text()
    const headers = ['content-type', 'content-encoding', 'content-length', 'vary'].map((name) =>
      response.headers.get(name),
    )
    return [response.status, ...headers]
  }
  for (const path of ['/text/csv', '/text/event-stream']) {
    for (const coding of ['identity', 'gzip', 'br']) {
      made = 0
      const head = await told('HEAD', path, coding)
      assert.deepEqual([made, streams.at(-1)?.destroyed], [0, true], `${path} ${coding}`)
      assert.deepEqual(await told('GET', path, coding), head)
    }
  }
})

test('mistakes in a declaration are refused at once', async () => {
  await using platform = await startPlatform()
  assert.throws(
    () =>
      operation(platform.server, {
        operationId: 'GetLiveness',
        schema: { response: { 200: Answer } },
        url: '/x',
      } as never),
    /Two operations/,
  )
  assert.throws(() => operation(platform.server, { operationId: 'New', schema: {}, url: '/x' } as never), /no response/)
})
