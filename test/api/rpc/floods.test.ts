/** More calls than the server can begin at once: others still get their turn, and what is refused costs little. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { create, toBinary } from '@bufbuild/protobuf'
import { StringValueSchema } from '@bufbuild/protobuf/wkt'
import { Code } from '@connectrpc/connect'
import { SharedMemory } from '../../../src/platform/memory/shared-memory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { probeService } from './probe-service.ts'
import { envelope, rawCall, rawSession } from './raw-grpc.ts'
import { startRpcServer, tinyAuthenticator } from './rpc-server.ts'

const OPEN = '/probe.v1.ProbeService/Open'
const ECHO = '/probe.v1.ProbeService/Echo'
const CHAT = '/probe.v1.ProbeService/Chat'
const REFLECT = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const WATCH = '/grpc.health.v1.Health/Watch'
const HELLO = envelope(0, Buffer.from([0x0a, 0x05, ...Buffer.from('hello')]))

function openCall(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', ...headers })
  return stream.on('error', () => undefined)
}

test('calls that are cancelled in the packet that opens them are not begun', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  await once(session, 'remoteSettings')
  for (let n = 0; n < 100; n++) openCall(session, OPEN).close(8)
  assert.equal((await rawCall(session, OPEN, HELLO)).status, 0)
  // A packet may be torn apart on its way, but not a hundred times.
  assert.ok(server.observed.length < 50, `${server.observed.length} were begun`)
})

test('a large message waits until there is memory for it, and a small one does not; it is given back, also when it came too late', async (t) => {
  const clock = new FakeClock()
  const bodyMemory = new SharedMemory<string>(1)
  const held = await bodyMemory.take('somebody', 1_000, new AbortController().signal)
  const server = await startRpcServer(t, { bodyMemory, clock, limits: { requestTimeoutMs: 1_000 } })
  const [session, other] = [rawSession(t, server.grpcUrl), rawSession(t, server.grpcUrl)]
  await Promise.all([session, other].map((one) => once(one, 'remoteSettings')))
  const large = toBinary(StringValueSchema, create(StringValueSchema, { value: 'x'.repeat(100_000) }))
  const waiting = async (count: number) => {
    while (bodyMemory.waiting !== count) await nextTurn()
  }
  const late = rawCall(session, OPEN, envelope(0, large))
  await waiting(1)
  assert.equal((await rawCall(session, OPEN, HELLO)).status, 0)
  await clock.advance(1_000)
  assert.equal((await late).status, Code.DeadlineExceeded)
  await waiting(0)
  const calls = [session, other].map((one) => rawCall(one, OPEN, envelope(0, large)))
  await waiting(2)
  held.giveBack()
  for (const { status } of await Promise.all(calls)) assert.equal(status, 0)
  while (!bodyMemory.isFree('another', 1_000)) await nextTurn()
})

test('however many calls come at once, everything else gets its turn between them', async (t) => {
  let begun = 0
  let turns = 0
  let most = 0
  const authenticator = {
    authenticate(source: Parameters<typeof tinyAuthenticator.authenticate>[0]) {
      begun++
      return tinyAuthenticator.authenticate(source)
    },
  }
  const server = await startRpcServer(t, { authenticator })
  const sessions = Array.from({ length: 10 }, () => rawSession(t, server.grpcUrl))
  await Promise.all(sessions.map((session) => once(session, 'remoteSettings')))
  let before = 0
  let isOver = false
  function turn() {
    turns++
    most = Math.max(most, begun - before)
    before = begun
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const calls = sessions.flatMap((session) => Array.from({ length: 100 }, () => rawCall(session, ECHO, HELLO)))
  const answers = await Promise.all(calls)
  isOver = true
  assert.ok(answers.every(({ status }) => status === Code.Unauthenticated))
  assert.equal(begun, 1_000)
  assert.ok(most <= 64, `${most} in one turn`)
  assert.ok(turns >= 1_000 / 64)
})

test('calls beyond the most of all connections are RESOURCE_EXHAUSTED until others end', async (t) => {
  const server = await startRpcServer(t, { grpc: { maxCalls: 3 } })
  const [first, second] = [rawSession(t, server.grpcUrl), rawSession(t, server.grpcUrl)]
  const open: ClientHttp2Stream[] = []
  for (const session of [first, first, second]) {
    const stream = openCall(session, CHAT)
    stream.write(HELLO)
    await once(stream, 'data')
    open.push(stream)
  }
  const refused = await rawCall(second, OPEN, HELLO)
  assert.equal(refused.status, Code.ResourceExhausted)
  assert.match(refused.message, /too many calls/)
  assert.equal((await rawCall(first, OPEN, null)).status, Code.ResourceExhausted, 'also when its body never ends')
  open[0]?.resume().end()
  await once(open[0] as ClientHttp2Stream, 'close')
  assert.equal((await rawCall(second, OPEN, HELLO)).status, 0)
})

test('calls that have waited longest for their message give way when the port is full, and those that are served do not', async (t) => {
  const clock = new FakeClock()
  const served = Promise.withResolvers<{ value: string }>()
  const begun = Promise.withResolvers<void>()
  let count = 0
  const open = () => {
    if (count++ > 0) return { value: 'at once' }
    begun.resolve()
    return served.promise
  }
  const services = [probeService({ open: { access: 'public', handler: open } })]
  const server = await startRpcServer(t, { clock, services, grpc: { maxCalls: 4 } })
  const [idle, busy] = [rawSession(t, server.grpcUrl), rawSession(t, server.grpcUrl)]
  const chat = openCall(busy, CHAT)
  chat.write(HELLO)
  const long = rawCall(busy, OPEN, HELLO)
  await Promise.all([once(chat, 'data'), begun.promise, once(idle, 'remoteSettings')])
  const alarms = clock.waiting
  const [first, second] = [openCall(idle, OPEN), openCall(idle, OPEN)]
  // Each waits for its body, with a limit of its own.
  while (clock.waiting < alarms + 2) await new Promise((resolve) => setImmediate(resolve))
  const early = await rawCall(busy, OPEN, HELLO)
  assert.equal(early.status, Code.ResourceExhausted, 'their messages may still be on the way')
  await clock.advance(1_000)
  const gaveWay = new Promise((resolve) => first.once('close', resolve))
  assert.equal((await rawCall(busy, OPEN, HELLO)).status, 0)
  await gaveWay
  assert.equal(first.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  assert.deepEqual([second.closed, chat.closed], [false, false])
  served.resolve({ value: 'late' })
  assert.equal((await long).status, 0)
})

test('a client with hundreds of calls at once that gives some of them up is refused none of the others', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  await once(session, 'remoteSettings')
  const answers = Array.from({ length: 300 }, () => {
    const stream = openCall(session, CHAT)
    stream.write(HELLO)
    const answer = new Promise<string>((resolve) => {
      stream.once('data', () => resolve('answered'))
      stream.once('close', () => resolve(`closed with ${stream.rstCode}`))
    })
    return { stream, answer }
  })
  const [given, kept] = [answers.slice(0, 100), answers.slice(100)]
  await Promise.all(given.map(({ answer }) => answer))
  for (const { stream } of given) stream.close(8)
  const seen = new Set(await Promise.all(kept.map(({ answer }) => answer)))
  assert.deepEqual([...seen], ['answered'])
})

test('calls are answered while many large answers on the same connection wait to be read, and those arrive', async (t) => {
  const value = 'x'.repeat(2_000_000)
  const services = [probeService({ open: { access: 'public', handler: () => ({ value }) } })]
  const server = await startRpcServer(t, { services })
  const session = rawSession(t, server.grpcUrl)
  await once(session, 'remoteSettings')
  const unread = Array.from({ length: 60 }, () => {
    const stream = openCall(session, OPEN).end(HELLO)
    return { stream, begun: once(stream, 'response') }
  })
  await Promise.all(unread.map(({ begun }) => begun))
  assert.equal((await rawCall(session, ECHO, HELLO)).status, Code.Unauthenticated)
  const statuses = unread.map(async ({ stream }) => {
    const [[trailers]] = await Promise.all([once(stream, 'trailers'), once(stream.resume(), 'close')])
    return trailers['grpc-status']
  })
  assert.deepEqual([...new Set(await Promise.all(statuses))], ['0'])
})

test('streams of reflection that nobody uses leave the port to others, and go with their caller', async (t) => {
  const server = await startRpcServer(t)
  const session = rawSession(t, server.grpcUrl)
  const other = rawSession(t, server.grpcUrl)
  await once(session, 'remoteSettings')
  // Asks for the services.
  const question = envelope(0, Buffer.from([0x3a, 0]))
  const idle = Array.from({ length: 1_000 }, (_, n) => {
    const stream = openCall(session, n % 2 === 0 ? REFLECT : REFLECT.replace('v1', 'v1alpha'))
    stream.write(question)
    return { stream, begun: once(stream, 'data') }
  })
  await Promise.all(idle.map(({ begun }) => begun))
  assert.equal((await rawCall(other, REFLECT, question)).status, Code.ResourceExhausted)
  assert.equal((await rawCall(other, OPEN, HELLO)).status, 0)
  for (const { stream } of idle) stream.close(8)
  for (;;) if ((await rawCall(other, REFLECT, question)).status === 0) break
})

for (const [path, question] of [
  [WATCH, Buffer.alloc(0)],
  [REFLECT, Buffer.from([0x3a, 0])],
] as const) {
  test(`one caller who takes all places of ${path} keeps nobody from elsewhere out`, async (t) => {
    const server = await startRpcServer(t, { grpc: { trustedProxies: ['127.0.0.1'] } })
    const [session, other] = [rawSession(t, server.grpcUrl), rawSession(t, server.grpcUrl)]
    await Promise.all([session, other].map((one) => once(one, 'remoteSettings')))
    const from = (address: string) => ({ 'x-forwarded-for': address, te: 'trailers' })
    const stay = (connection: ClientHttp2Session, address: string) => {
      const stream = openCall(connection, path, from(address))
      // Whoever watches has nothing more to say; whoever asks about the server may.
      if (path === WATCH) stream.end(envelope(0, question))
      else stream.write(envelope(0, question))
      return { stream, begun: once(stream, 'data') }
    }
    const idle = Array.from({ length: 1_000 }, () => stay(session, '192.0.2.1'))
    await Promise.all(idle.map(({ begun }) => begun))
    const refused = await rawCall(other, path, envelope(0, question), from('192.0.2.1'))
    assert.equal(refused.status, Code.ResourceExhausted)
    const ends = idle.map(({ stream }) => once(stream, 'trailers'))
    await stay(other, '192.0.2.2').begun
    const [trailers] = await Promise.race(ends)
    assert.equal(Number(trailers['grpc-status']), Code.ResourceExhausted)
  })
}

test('calls whose answers nobody reads do not keep others out', async (t) => {
  const clock = new FakeClock()
  const server = await startRpcServer(t, { clock, grpc: { maxCalls: 4 } })
  const silent = connect(server.grpcUrl, { settings: { initialWindowSize: 0 } }).on('error', () => undefined)
  t.after(() => silent.destroy())
  const other = rawSession(t, server.grpcUrl)
  await Promise.all([silent, other].map((one) => once(one, 'remoteSettings')))
  const calls = Array.from({ length: 4 }, () => openCall(silent, OPEN))
  const begun = calls.map((stream) => once(stream.end(HELLO), 'response'))
  await Promise.all(begun)
  const ended = once(silent, 'close')
  // At first they may still be read.
  assert.equal((await rawCall(other, OPEN, HELLO)).status, Code.ResourceExhausted)
  for (let looks = 0; looks < 10; looks++) {
    await clock.advance(1_000)
    await rawCall(other, OPEN, HELLO)
  }
  await ended
  assert.equal((await rawCall(other, OPEN, HELLO)).status, 0)
})
