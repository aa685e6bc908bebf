import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Code } from '@connectrpc/connect'
import type { Authenticator } from '../../../src/platform/auth/authenticator.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { envelope, rawCall, rawSession } from './raw-grpc.ts'
import { type LogLine, startRpcServer, tinyAuthenticator, WRITER } from './rpc-server.ts'

const OPEN = '/probe.v1.ProbeService/Open'
const HELLO = Buffer.from([0x0a, 0x05, ...Buffer.from('hello')])

/** The connection of a test is good as long as an ordinary call still works on it. */
async function assertStillServes(session: ReturnType<typeof rawSession>) {
  assert.equal((await rawCall(session, OPEN, envelope(0, HELLO))).status, 0)
}

test('a broken frame gets a status, never a crash, and the connection goes on', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  const cases: [string, Buffer, Record<string, string>, Code][] = [
    ['nothing at all', Buffer.alloc(0), {}, Code.Unimplemented],
    ['half a frame head', Buffer.from([0, 0, 0]), {}, Code.InvalidArgument],
    ['less than announced', envelope(0, HELLO, 1_000), {}, Code.InvalidArgument],
    ['4 GiB announced', envelope(0, HELLO, 0xffff_ffff), {}, Code.ResourceExhausted],
    ['no protobuf', envelope(0, Buffer.from([0xff, 0xff, 0xff])), {}, Code.InvalidArgument],
    ['text that is no UTF-8', envelope(0, Buffer.from([0x0a, 2, 0xc3, 0x28])), {}, Code.InvalidArgument],
    ['two messages', Buffer.concat([envelope(0, HELLO), envelope(0, HELLO)]), {}, Code.Unimplemented],
    ['compressed without saying how', envelope(1, HELLO), {}, Code.InvalidArgument],
    ['unknown compression', envelope(1, HELLO), { 'grpc-encoding': 'lzma' }, Code.Unimplemented],
    ['no gzip', envelope(1, HELLO), { 'grpc-encoding': 'gzip' }, Code.InvalidArgument],
    ['cut gzip', envelope(1, gzipSync(HELLO).subarray(0, 12)), { 'grpc-encoding': 'gzip' }, Code.InvalidArgument],
    [
      'a gzip bomb',
      envelope(1, gzipSync(Buffer.alloc(64 * 1024 * 1024))),
      { 'grpc-encoding': 'gzip' },
      Code.ResourceExhausted,
    ],
    ['a timeout that is none', envelope(0, HELLO), { 'grpc-timeout': 'soon' }, Code.InvalidArgument],
    ['a timeout of nothing', envelope(0, HELLO), { 'grpc-timeout': '0n' }, Code.DeadlineExceeded],
  ]
  for (const [name, body, headers, code] of cases) {
    const answer = await rawCall(session, OPEN, body, headers)
    assert.equal(answer.status, code, `${name}: ${answer.message}`)
    assert.doesNotMatch(answer.message, /node_modules|\.ts|\.js|at /, name)
  }
  await assertStillServes(session)
  assert.equal(server.observed.filter(({ code }) => code !== 'ok').length, cases.length)
})

test('a broken message in a stream is no failure of the server, and its log does not call it one', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  const reflect = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const authorization = { authorization: WRITER }
  for (const bytes of [
    [0xff, 0xff, 0xff],
    [0x0a, 0x07],
  ]) {
    const answer = await rawCall(session, reflect, envelope(0, Buffer.from(bytes)), authorization)
    assert.equal(answer.status, Code.InvalidArgument, answer.message)
    assert.match(answer.message, /unreadable/)
  }
  await assertStillServes(session)
  assert.deepEqual(server.observed.map(({ code }) => code).sort(), ['invalid_argument', 'invalid_argument', 'ok'])
  assert.deepEqual(
    server.lines.filter(({ msg }) => msg !== 'call'),
    [],
  )
})

test('an error that quotes a huge input does not break the stream', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  const body = Buffer.from(JSON.stringify({ status: 'x'.repeat(10_000) }))
  const answer = await rawCall(
    session,
    '/grpc.health.v1.Health/Check',
    envelope(0, Buffer.from(`{"service": ${body}}`)),
    {
      'content-type': 'application/grpc+json',
    },
  )
  assert.equal(answer.status, Code.InvalidArgument)
  assert.ok(answer.trailerBytes < 9_000)
  await assertStillServes(session)
})

test('headers above the limit end the stream, not the server', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  // The limit holds as soon as the client has heard of it.
  await assertStillServes(session)
  const answer = await rawCall(session, OPEN, envelope(0, HELLO), { 'x-large': 'x'.repeat(40_000) })
  assert.notEqual(answer.status, 0)
  await assertStillServes(rawSession(t, server.grpcUrl))
})

test('a refused call is answered at once and its stream closed, although its body never ends', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  assert.equal((await rawCall(session, '/probe.v1.ProbeService/Echo', null)).status, Code.Unauthenticated)
  assert.equal((await rawCall(session, '/no.such.Service/Method', null)).status, Code.Unimplemented)
  assert.equal((await rawCall(session, '/', null, { 'content-type': 'text/plain' })).httpStatus, 415)
  assert.equal((await rawCall(session, OPEN, null, { 'content-type': 'application/json' })).httpStatus, 415)
  await assertStillServes(session)
})

test('a body that does not come within the time is given up', async (t) => {
  const clock = new FakeClock()
  const server = await startRpcServer(t, { clock })
  const session = rawSession(t, server.grpcUrl)
  const answer = rawCall(session, OPEN, null)
  // The connection has one alarm, the body that does not come the other.
  while (clock.waiting < 2) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(server.rpc.limits.requestTimeoutMs)
  // Answered, but the client does not end its side: now the alarm is for the stream.
  while (clock.waiting < 2) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(5_000)
  assert.equal((await answer).status, Code.DeadlineExceeded)
})

test('who sends a message slowly acts by the rights of its end, not of its beginning', async (t) => {
  const clock = new FakeClock()
  const judged: (() => void)[] = []
  // Lets every call in once.
  const authenticator: Authenticator = {
    authenticate(source) {
      const isFirst = judged.shift()
      isFirst?.()
      return isFirst === undefined ? Promise.resolve({ kind: 'bad' }) : tinyAuthenticator.authenticate(source)
    },
  }
  const { baseUrl } = await startRpcServer(t, { clock, authenticator })
  const echo = async (takesMs: number) => {
    const first = new Promise<void>((resolve) => judged.push(resolve))
    async function* slowly() {
      yield Buffer.from('"a')
      await first
      await clock.advance(takesMs)
      yield Buffer.from('"')
    }
    const headers = { authorization: WRITER, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: ReadableStream.from(slowly()), duplex: 'half' } as const
    return (await fetch(`${baseUrl}/probe.v1.ProbeService/Echo`, init)).status
  }
  assert.deepEqual([await echo(1_000), await echo(1_001)], [200, 401])
})

test('a client that opens and cancels calls without pause is cut off, others are not', async (t) => {
  const server = await startRpcServer(t)
  const flood = rawSession(t, server.grpcUrl)
  await once(flood, 'remoteSettings')
  const closed = new Promise((resolve) => flood.once('close', resolve))
  function burst() {
    for (let n = 0; n < 100 && !flood.closed && !flood.destroyed; n++) {
      const stream = flood.request({ ':method': 'POST', ':path': OPEN, 'content-type': 'application/grpc' })
      stream.on('error', () => undefined)
      stream.close(8)
    }
    if (!flood.closed && !flood.destroyed) setImmediate(burst)
  }
  burst()
  await closed
  await assertStillServes(rawSession(t, server.grpcUrl))
})

function sendRaw(t: TestContext, port: number, bytes: string | Buffer): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write(bytes)
  // Cut off or closed: both are an end.
  return text(socket).catch(() => '')
}

test('HTTP/1.1 on the gRPC port is told where to go', async (t) => {
  const { listener } = await startRpcServer(t)
  for (const method of ['GET', 'POST', 'PUT', 'PROPFIND']) {
    const answer = await sendRaw(t, listener.port, `${method} / HTTP/1.1\r\nhost: x\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 505 .*This port speaks gRPC over HTTP\/2 without TLS\./s)
  }
})

test('anything else on the gRPC port is closed: TLS, noise, silence', async (t) => {
  const clock = new FakeClock()
  const { listener, grpcUrl } = await startRpcServer(t, { clock })
  assert.equal(await sendRaw(t, listener.port, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])), '')
  assert.equal(await sendRaw(t, listener.port, Buffer.alloc(5_000)), '')
  // Begins like HTTP/2 and is not.
  await sendRaw(
    t,
    listener.port,
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.alloc(500, 0xff)]),
  )
  // Until none of those has an alarm any more: the next one is that of the silent connection.
  while (clock.waiting > 0) await new Promise((resolve) => setImmediate(resolve))
  const silence = connectTcp(listener.port, '127.0.0.1')
  t.after(() => silence.destroy())
  silence.on('error', () => undefined)
  silence.write('PR')
  silence.resume()
  while (clock.waiting < 1) await new Promise((resolve) => setImmediate(resolve))
  const closed = new Promise((resolve) => silence.once('close', resolve))
  await clock.advance(10_000)
  await closed
  await assertStillServes(rawSession(t, grpcUrl))
})

test('a connection that says its first letters one by one is understood', async (t) => {
  const { listener } = await startRpcServer(t)
  const socket = connectTcp(listener.port, '127.0.0.1').setNoDelay(true)
  t.after(() => socket.destroy())
  for (const letter of ['P', 'R', 'I', ' * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
    await new Promise((resolve) => socket.write(letter, resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
  const [settings] = (await once(socket, 'data')) as [Buffer]
  assert.equal(settings[3], 4)
})

/** What an operator reads, of a server whose log has everything. */
function warnings(lines: readonly LogLine[]): LogLine[] {
  return lines.filter(({ level }) => level === 'warn' || level === 'error')
}

test('the main port answers a request without a usable host, and its log has no warning of it', async (t) => {
  const { main, lines } = await startRpcServer(t)
  const { port } = main.server.address() as { port: number }
  const head = `POST ${OPEN} HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: 2\r\n`
  assert.match(await sendRaw(t, port, `${head}\r\n{}`), /^HTTP\/1\.1 400 /)
  assert.match(await sendRaw(t, port, `${head}host: a b[\r\n\r\n{}`), /^HTTP\/1\.1 400 /)
  assert.deepEqual(warnings(lines), [])
})

test('a message in an address that is no base64 is told so, and is no failure of the server', async (t) => {
  const { baseUrl, lines } = await startRpcServer(t)
  const address = `${baseUrl}/commonplace.server.v1.ServerService/GetServerInfo?connect=v1&encoding=json&base64=1&message=`
  for (const message of ['!!!', 'e30%23']) {
    const answer = await fetch(address + message)
    assert.equal(answer.status, 400, message)
    const { code, message: text } = (await answer.json()) as { code: string; message: string }
    assert.equal(code, 'invalid_argument')
    assert.match(text, /base64/)
  }
  assert.equal((await fetch(`${address}e30`)).status, 200)
  assert.deepEqual(warnings(lines), [])
})

test('JSON that is no UTF-8 is refused in every protocol: nothing is made of it that was not sent', async (t) => {
  const { baseUrl, grpcUrl } = await startRpcServer(t)
  const json = Buffer.from('"caf\xe9"', 'latin1')
  for (const [body, headers] of [
    [json, { 'content-type': 'application/json' }],
    [gzipSync(json), { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' }],
  ] as const) {
    const answer = await fetch(`${baseUrl}${OPEN}`, { method: 'POST', body, headers })
    assert.equal(answer.status, 400)
    assert.match(((await answer.json()) as { message: string }).message, /UTF-8/)
  }
  const web = { 'content-type': 'application/grpc-web+json' }
  const answer = await fetch(`${baseUrl}${OPEN}`, { method: 'POST', body: envelope(0, json), headers: web })
  assert.match(await answer.text(), /UTF-8.*grpc-status: 3/s)
  const call = await rawCall(rawSession(t, grpcUrl), OPEN, envelope(0, json), {
    'content-type': 'application/grpc+json',
  })
  assert.equal(call.status, Code.InvalidArgument)
})

test('the main port says that a message is too large instead of dropping the connection', async (t) => {
  const { baseUrl } = await startRpcServer(t)
  const large = new Uint8Array(5 * 1024 * 1024).fill(0x20)
  const announced = await fetch(`${baseUrl}${OPEN}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: large,
  })
  assert.equal(announced.status, 429)
  const chunks = new ReadableStream({
    pull(controller) {
      controller.enqueue(large)
      controller.close()
    },
  })
  const streamed = await fetch(`${baseUrl}${OPEN}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: chunks,
    duplex: 'half',
  } as RequestInit)
  assert.equal(streamed.status, 429)
  assert.equal(((await streamed.json()) as { code: string }).code, 'resource_exhausted')
})

test('each port refuses the protocols of the other one, whichever service is called', async (t) => {
  const { baseUrl, grpcUrl } = await startRpcServer(t)
  const session = rawSession(t, grpcUrl)
  for (const path of [OPEN, '/commonplace.server.v1.ServerService/GetServerInfo', '/grpc.health.v1.Health/Check']) {
    const headers = { 'content-type': 'application/grpc' }
    assert.equal((await fetch(`${baseUrl}${path}`, { method: 'POST', body: '', headers })).status, 415, path)
    for (const type of ['application/json', 'application/proto', 'application/grpc-web+proto']) {
      assert.equal((await rawCall(session, path, null, { 'content-type': type })).httpStatus, 415, `${type} ${path}`)
    }
  }
})

test('the main port refuses what is no RPC', async (t) => {
  const { baseUrl } = await startRpcServer(t)
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${baseUrl}${OPEN}`, { method: 'POST', body, headers })
  assert.equal((await post('hello', { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await post('hello', { 'content-type': 'application/grpc' })).status, 415)
  assert.equal((await post('{', { 'content-type': 'application/json' })).status, 400)
  assert.equal((await post('42', { 'content-type': 'application/json' })).status, 400)
  assert.equal((await post('"x"', { 'content-type': 'application/json', 'content-encoding': 'lzma' })).status, 501)
  assert.equal((await post('"x"', { 'content-type': 'application/json', 'content-encoding': 'gzip' })).status, 400)
  assert.equal((await fetch(`${baseUrl}${OPEN}`, { method: 'DELETE' })).status, 404)
})
