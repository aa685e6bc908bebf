import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { SystemClock } from '../../../src/platform/clock/clock.ts'
import { closeGracefully, listen } from '../../../src/platform/http/connection/listen.ts'
import { operation } from '../../../src/platform/http/operation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { exchange, parseAnswer, startPlatform } from './platform-server.ts'

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let entered = () => {}
  const reached = new Promise<void>((resolve) => {
    entered = resolve
  })
  return { open, opened, entered, reached }
}

function waitingRoute(gates: ReturnType<typeof gate>) {
  return (server: FastifyInstance) =>
    operation(server, {
      method: 'POST',
      url: '/api/v2/wait',
      operationId: 'Wait',
      summary: 'Wait',
      surface: 'users',
      access: 'public',
      rateLimit: null,
      schema: { body: Type.Object({}), response: { 200: Type.Object({ done: Type.Boolean() }) } },
      async handler() {
        gates.entered()
        await gates.opened
        return { done: true }
      },
    })
}

const HEAD = 'POST /api/v2/wait HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

test('a request that does not arrive in time gets 408 and its connection ends', async () => {
  await using platform = await startPlatform({ routes: waitingRoute(gate()), settings: { request_timeout: 100 } })
  for (const beginning of ['GET /li', 'GET /livez HTTP/1.1\r\nHost: x\r\n', `${HEAD}Content-Length: 9\r\n\r\n{`]) {
    const answer = parseAnswer(await exchange(platform.port, beginning))
    assert.equal(answer.status, 408, beginning)
    assert.match(answer.body, /did not arrive in time/)
  }
})

test('a request refused before its body has come gets that one answer, however long the rest stays away', async () => {
  await using platform = await startPlatform({ routes: waitingRoute(gate()), settings: { request_timeout: 100 } })
  const answers = await exchange(platform.port, `${HEAD}Content-Length: 99999999\r\n\r\n{`)
  assert.deepEqual(answers.match(/^HTTP\/1\.1 \d+/gm), ['HTTP/1.1 413'])
})

test('a caller that is refused before its body has come, and asked for a close, may send the rest first', async () => {
  await using platform = await startPlatform({ routes: waitingRoute(gate()) })
  const socket = connect(platform.port, '127.0.0.1')
  const body = 'x'.repeat(4_000_000)
  socket.write(`${HEAD}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /)
  socket.resume()
  for (let at = 0; at < body.length; at += 100_000) {
    if (!socket.write(body.slice(at, at + 100_000))) await once(socket, 'drain')
  }
  // An error would be thrown here.
  await once(socket, 'end')
})

test('an operation may allow less than the server, and never more', async () => {
  const routes = (server: FastifyInstance) => {
    for (const [operationId, bodyLimit] of [
      ['Less', 500],
      ['More', 5_000],
    ] as const)
      operation(server, {
        method: 'POST',
        url: `/${operationId}`,
        operationId,
        summary: 'Take a body',
        surface: 'platform',
        access: 'public',
        rateLimit: null,
        bodyLimit,
        schema: { body: Type.String(), response: { 200: Type.Object({}) } },
        handler: async () => ({}),
      })
  }
  await using platform = await startPlatform({ routes, settings: { body_limit: 1_000 } })
  const statusOf = async (path: string, length: number) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `"${'x'.repeat(length - 2)}"`,
    }
    return (await fetch(platform.url + path, init)).status
  }
  assert.deepEqual([await statusOf('/Less', 500), await statusOf('/Less', 501)], [200, 413])
  assert.deepEqual([await statusOf('/More', 1_000), await statusOf('/More', 1_001)], [200, 413])
})

test('a connection on which nothing moves is closed', async () => {
  await using platform = await startPlatform({ settings: { idle_timeout: 100, request_timeout: 0 } })
  assert.equal(await exchange(platform.port), '')
  await using keeping = await startPlatform({ settings: { keep_alive_timeout: 50 } })
  assert.match(await exchange(keeping.port, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'), /"ok"/)
})

test('a request that waits for its answer is no idle connection', async () => {
  const gates = gate()
  await using platform = await startPlatform({
    routes: waitingRoute(gates),
    settings: { idle_timeout: 100, keep_alive_timeout: 50 },
  })
  const timedOut = once(platform.server.server, 'timeout')
  const answer = exchange(platform.port, `${HEAD}Content-Length: 2\r\n\r\n{}`)
  await gates.reached
  await timedOut
  gates.open()
  assert.equal(parseAnswer(await answer).status, 200)
})

test('an answer that has begun and does not go on is an idle connection', async () => {
  await using platform = await startPlatform({
    settings: { idle_timeout: 100 },
    routes: (server) =>
      void server.get('/begins', (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-length': '2' }).flushHeaders()
      }),
  })
  assert.match(await exchange(platform.port, 'GET /begins HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1\.1 200 /)
})

test('an answer that would end with its connection does not look whole when nobody reads it any more, or the server stops', async () => {
  const routes = (server: FastifyInstance) =>
    void server.get('/begins', (_request, reply) => {
      reply.hijack()
      reply.raw.write('half of it')
    })
  const ask = (port: number) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /begins HTTP/1.0\r\n\r\n')
    return socket
  }
  await using unread = await startPlatform({ settings: { idle_timeout: 100 }, routes })
  await assert.rejects(once(ask(unread.port).resume(), 'end'), { code: 'ECONNRESET' })
  await using stopped = await startPlatform({ routes })
  const socket = ask(stopped.port)
  await once(socket, 'data')
  const broken = assert.rejects(once(socket, 'end'), { code: 'ECONNRESET' })
  const clock = new FakeClock()
  const closed = closeGracefully(stopped.server, clock, 10_000)
  await clock.advance(10_000)
  await Promise.all([closed, broken])
})

function largeRoute(megabytes: number) {
  return (server: FastifyInstance) => server.get('/large', async () => Buffer.alloc(megabytes * 1024 * 1024, 'x'))
}

const LARGE = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n'

test('a caller that does not read a large answer is cut off, also one that waits for another', {
  timeout: 60_000,
}, async (t) => {
  await using platform = await startPlatform({
    routes: largeRoute(32),
    settings: { unread_timeout: 100, idle_timeout: 0, keep_alive_timeout: 0 },
  })
  const closed = new Promise<void>((resolve) => {
    platform.server.server.on('connection', (socket) => socket.once('close', () => resolve()))
  })
  const socket = connect({ port: platform.port, host: '127.0.0.1', signal: t.signal }).on('error', () => {})
  socket.pause()
  socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${LARGE}`)
  await closed
  socket.destroy()
})

test('a connection whose large answer was read goes on as before', async () => {
  await using platform = await startPlatform({ routes: largeRoute(8), settings: { unread_timeout: 9_999 } })
  const timeouts: (number | undefined)[] = []
  platform.server.server.on('request', (request, response) => {
    response.once('finish', () => setImmediate(() => timeouts.push(request.socket.timeout)))
  })
  const answer = await exchange(platform.port, `${LARGE}GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200'])
  assert.ok(!timeouts.includes(9_999), String(timeouts))
})

test('connections beyond the limit are refused, the others go on', async () => {
  await using platform = await startPlatform({ settings: { max_connections: 1 } })
  const first = connect(platform.port, '127.0.0.1')
  await new Promise((resolve) => first.once('connect', resolve))
  assert.equal(await exchange(platform.port, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'), '')
  const answered = new Promise<string>((resolve) => first.once('data', (bytes) => resolve(bytes.toString())))
  first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(await answered, /200 OK/)
  first.destroy()
})

test('closing finishes what is in flight, tells the connection to close, and ends idle ones', async () => {
  const gates = gate()
  await using platform = await startPlatform({ routes: waitingRoute(gates) })
  const idle = exchange(platform.port, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
  const inFlight = exchange(platform.port, `${HEAD}Content-Length: 2\r\n\r\n{}`)
  await gates.reached
  const closed = closeGracefully(platform.server, new SystemClock(), 10_000)
  assert.match(await idle, /"ok"/)
  await assert.rejects(fetch(`${platform.url}/livez`))
  gates.open()
  const answer = parseAnswer(await inFlight)
  assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'])
  assert.equal(await closed, true)
})

test('what does not finish in time is cut off', async () => {
  const gates = gate()
  const clock = new FakeClock()
  await using platform = await startPlatform({ routes: waitingRoute(gates) })
  const inFlight = exchange(platform.port, `${HEAD}Content-Length: 2\r\n\r\n{}`)
  await gates.reached
  const closed = closeGracefully(platform.server, clock, 10_000)
  await clock.advance(10_000)
  assert.equal(await closed, false)
  assert.equal(await inFlight, '')
  gates.open()
})

test('pipelined requests are answered in order, also when the last one is broken', async () => {
  await using platform = await startPlatform()
  const one = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
  const received = await exchange(platform.port, `${one}${one}GET /nope HTTP/1.1\r\nHost: x\r\n\r\nBROKEN\r\n\r\n`)
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
  assert.deepEqual(statuses, ['200', '200', '404', '400'])
})

test('a pipelined request begins when the one before it has its answer: else each would keep one in memory', async () => {
  const gates = gate()
  const begun: string[] = []
  await using platform = await startPlatform({
    routes: (server) => {
      waitingRoute(gates)(server)
      server.get('/begin/:name', ({ params }) => begun.push((params as { name: string }).name))
    },
  })
  const next = (name: string) => `GET /begin/${name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  const received = exchange(platform.port, `${HEAD}Content-Length: 2\r\n\r\n{}${next('behind')}`)
  await gates.reached
  await exchange(platform.port, next('beside'))
  gates.open()
  assert.deepEqual((await received).match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200'])
  assert.deepEqual(begun, ['beside', 'behind'])
})

test('a body that is no JSON ends its request, not the connection', async () => {
  await using platform = await startPlatform({ routes: waitingRoute(gate()) })
  const next = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const received = await exchange(platform.port, `${HEAD}Content-Length: 1\r\n\r\n{${next}`)
  assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 200'])
})

test('a request that is being worked on is answered before the broken or late one behind it', async () => {
  for (const [behind, status] of [
    [`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, '400'],
    ['GET /li', '408'],
  ] as const) {
    const gates = gate()
    await using platform = await startPlatform({ routes: waitingRoute(gates), settings: { request_timeout: 100 } })
    const refused = new Promise((resolve) => platform.server.server.once('clientError', resolve))
    const received = exchange(platform.port, `${HEAD}Content-Length: 2\r\n\r\n{}${behind}`)
    await Promise.all([gates.reached, refused])
    gates.open()
    const statuses = [...(await received).matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
    assert.deepEqual(statuses, ['200', status])
  }
})

test('the absolute form of an address is understood, a strange one is refused', async () => {
  await using platform = await startPlatform()
  const get = async (target: string, method = 'GET') =>
    parseAnswer(await exchange(platform.port, `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))
      .status
  assert.equal(await get('http://other.example/livez'), 200)
  assert.equal(await get('http://other.example'), 200)
  assert.equal(await get('*', 'OPTIONS'), 204)
  assert.equal(await get('livez'), 400)
})

test('the host of an absolute address counts, whatever the Host header says', async () => {
  await using platform = await startPlatform({
    routes: (server) => server.get('/host', (request) => request.headers.host),
  })
  const received = await exchange(
    platform.port,
    'GET http://other.example:81/host HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  )
  assert.equal(parseAnswer(received).body, 'other.example:81')
})

test('a connection on which nothing was ever asked does not hold up a stop', async () => {
  await using platform = await startPlatform()
  const accepted = once(platform.server.server, 'connection')
  const mute = connect(platform.port, '127.0.0.1')
  await accepted
  assert.equal(await closeGracefully(platform.server, new SystemClock(), 3_000), true)
  mute.destroy()
})

test('a port that is in use is named, with what to do', async () => {
  await using platform = await startPlatform()
  const { createHttpServer } = await import('../../../src/platform/http/server.ts')
  const server = await createHttpServer(platform.server.platform)
  await assert.rejects(
    listen(server, '127.0.0.1', platform.port),
    /Port \d+ on 127\.0\.0\.1 is in use.*COMMONPLACE_PORT/,
  )
  await server.close()
})

test('a caller who has ended its side of the connection gets the answer', async () => {
  const gates = gate()
  await using platform = await startPlatform({ routes: waitingRoute(gates) })
  const socket = connect({ port: platform.port, host: '127.0.0.1', allowHalfOpen: true })
  const ended = new Promise<void>((resolve) =>
    platform.server.server.once('connection', (own) => own.once('end', resolve)),
  )
  socket.end(`${HEAD}Content-Length: 2\r\n\r\n{}`)
  await Promise.all([gates.reached, ended])
  gates.open()
  const answer = parseAnswer(Buffer.concat(await socket.toArray()).toString())
  assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, { done: true }])
})

test('the connection of a caller who has gone ends although no answer is ready', async () => {
  const gates = gate()
  await using platform = await startPlatform({ routes: waitingRoute(gates) })
  const closed = new Promise<void>((resolve) =>
    platform.server.server.once('connection', (own) => own.once('close', resolve)),
  )
  const socket = connect({ port: platform.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {}).end(`${HEAD}Content-Length: 2\r\n\r\n{}`)
  await gates.reached
  await closed
  gates.open()
})
