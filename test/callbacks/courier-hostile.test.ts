// Receivers that do everything wrong at random. What is promised is little and must always hold: every attempt comes to
// an end, and the process lives, and ends by itself.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { isNotBegun } from '../../src/platform/outbound/not-begun.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { socketClosed } from '../support/receivers/receiver.ts'

const authority = createCertificate(['Test authority'])
const certificate = createCertificate(['127.0.0.1'], authority)
// Their time is short: on a busy machine it may be over before one is sent.
const RESULTS = ['success', 'retryable', 'terminal', 'given up', 'not begun']
const ATTEMPTS = 400
const AT_A_TIME = 40
const PIECES = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 304 Not Modified\r\n',
  'HTTP/1.1 500 \r\n',
  'content-length: 5\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'connection: close\r\n',
  'keep-alive: timeout=1\r\n',
  '\r\n',
  'hello',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'zz\r\n',
  '\0\xff\xfe',
  'x'.repeat(20_000),
]

type Chance = (below: number) => number

/** The same numbers for the same seed. */
function chanceOf(seed: number): Chance {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function listen(server: Server | Http2SecureServer): Promise<{ port: number; open: Set<Socket> }> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket.on('error', () => {}).once('close', () => open.delete(socket)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, open }
}

async function attemptAll(courier: Courier, url: string, chance: Chance): Promise<Map<string, number>> {
  const results = new Map<string, number>()
  let left = ATTEMPTS
  const worker = async () => {
    while (left-- > 0) {
      const abort = new AbortController()
      const delivery = courier.deliver(
        deliveryTo(url, {
          timeoutMs: 20 + chance(80),
          body: Buffer.alloc(chance(2) * chance(200_000)),
          signal: abort.signal,
        }),
      )
      if (chance(10) === 0) setImmediate(() => abort.abort(new Error('given up')))
      const result = await delivery.then(
        ({ verdict }) => verdict.result,
        (error: Error) => (isNotBegun(error.cause) ? 'not begun' : error.message),
      )
      results.set(result, (results.get(result) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return results
}

function misbehave(socket: Socket, chance: Chance): void {
  const kind = chance(10)
  if (kind < 4) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  else if (kind === 4) socket.end()
  else if (kind === 5) socket.resetAndDestroy()
  else if (kind < 9) {
    const bytes = Array.from({ length: chance(8) }, () => PIECES[chance(PIECES.length)]).join('')
    const cut = chance(bytes.length + 1)
    socket.write(bytes.slice(0, cut), 'latin1')
    setImmediate(() => socket.writable && socket.write(bytes.slice(cut), 'latin1'))
  }
}

function misbehaveStream(stream: ServerHttp2Stream, chance: Chance): void {
  const kind = chance(12)
  const { session } = stream
  if (kind < 3) stream.respond({ ':status': 200 }, { endStream: true })
  else if (kind === 3) stream.close(chance(14))
  else if (kind === 4) {
    stream.respond({ ':status': 500, 'content-length': '3' })
    stream.end('too much')
  } else if (kind === 5) {
    stream.additionalHeaders({ ':status': 103 })
    stream.respond({ ':status': 404 })
    stream.end('x'.repeat(200_000))
  } else if (kind === 6) session?.goaway(0, chance(2) * chance(50))
  else if (kind === 7) session?.close()
  else if (kind === 8) session?.destroy()
  else if (kind === 9) session?.settings({ maxConcurrentStreams: chance(3), initialWindowSize: chance(70_000) })
  else if (kind === 10) {
    stream.resume()
    stream.on('end', () => stream.writable && stream.respond({ ':status': 200 }, { endStream: true }))
  }
}

for (const seed of [1, 2]) {
  test(`outlives receivers that speak HTTP/1.1 badly (${seed})`, async (t) => {
    const chance = chanceOf(seed)
    const server = createServer((socket) => {
      if (chance(20) === 0) misbehave(socket, chance)
      socket.on('data', () => socket.writable && misbehave(socket, chance))
    })
    const { port, open } = await listen(server)
    t.after(() => server.close())
    const courier = new Courier({ clock: new SystemClock() })
    const results = await attemptAll(courier, `http://127.0.0.1:${port}/`, chance)
    for (const result of results.keys()) assert.ok(RESULTS.includes(result), result)
    await courier.close()
    await Promise.all([...open].map(socketClosed))
  })

  test(`outlives receivers that speak HTTP/2 badly (${seed})`, async (t) => {
    const chance = chanceOf(seed)
    const server = createSecureServer({ ...certificate, allowHTTP1: false })
    server.on('sessionError', () => {})
    server.on('session', (session) => session.on('error', () => {}))
    server.on('stream', (stream) => {
      stream.on('error', () => {})
      misbehaveStream(stream, chance)
    })
    const { port, open } = await listen(server)
    t.after(() => server.close())
    const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
    const results = await attemptAll(courier, `https://127.0.0.1:${port}/`, chance)
    for (const result of results.keys()) assert.ok(RESULTS.includes(result), result)
    await courier.close()
    // Node's server does not always notice that a connection it misused has gone.
    for (const socket of open) socket.destroy()
  })
}

test('a receiver that stops reading in the middle of an HTTP/2 request and goes on too late does no harm', async (t) => {
  const server = createSecureServer({ ...certificate, settings: { initialWindowSize: 10_000_000 } })
  server.on('session', (session) => {
    session.on('error', () => {})
    session.setLocalWindowSize(100_000_000)
  })
  const { promise: paused, resolve } = Promise.withResolvers<Socket>()
  let count = 0
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    if (count++ > 0) stream.respond({ ':status': 200 }, { endStream: true })
    else resolve([...open][0] as Socket)
  })
  const { port, open } = await listen(server)
  t.after(() => server.close())
  const time = new FakeClock()
  const courier = new Courier({ clock: time, extraCa: [authority.cert] })
  t.after(() => courier.close())
  const url = `https://127.0.0.1:${port}/`
  const large = Buffer.alloc(8_000_000)
  const deliveries = [0, 1, 2].map((at) => courier.deliver(deliveryTo(url, { body: large, timeoutMs: 1000 + at })))
  const socket = await paused
  socket.pause()
  await time.advance(1001)
  socket.resume()
  await time.advance(1)
  for (const { verdict } of await Promise.all(deliveries)) assert.notEqual(verdict.result, 'terminal')
  assert.equal((await deliveries[0])?.verdict.label, 'request-timeout')
  assert.equal((await courier.deliver(deliveryTo(url))).verdict.result, 'success')
})

test('a request that an HTTP/2 receiver has refused unseen is sent once more, and only once', async (t) => {
  const server = createSecureServer(certificate)
  const REFUSED_STREAM = 7
  let refusals = 1
  let count = 0
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    count++
    if (refusals-- > 0) stream.close(REFUSED_STREAM)
    else stream.respond({ ':status': 200 }, { endStream: true })
  })
  const { port } = await listen(server)
  t.after(() => server.close())
  const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
  t.after(() => courier.close())
  const url = `https://127.0.0.1:${port}/`
  assert.equal((await courier.deliver(deliveryTo(url))).verdict.result, 'success')
  assert.equal(count, 2)
  refusals = 100
  const { verdict } = await courier.deliver(deliveryTo(url))
  assert.equal(verdict.result, 'retryable')
  assert.match(verdict.message, /REFUSED_STREAM/)
  assert.equal(count, 4)
})

test('an HTTP/2 receiver that says good-bye is called by a new connection, and no attempt is lost', async (t) => {
  for (const maxConcurrentStreams of [1, 100]) {
    const server = createSecureServer({ ...certificate, settings: { maxConcurrentStreams } })
    let count = 0
    server.on('stream', (stream) => {
      if (count++ % 2 === 0) stream.session?.close()
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    const { port } = await listen(server)
    t.after(() => server.close())
    const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
    t.after(() => courier.close())
    for (let attempt = 0; attempt < 10; attempt++) {
      const { verdict } = await courier.deliver(deliveryTo(`https://127.0.0.1:${port}/`))
      assert.equal(verdict.result, 'success', verdict.message)
    }
  }
})

test('requests that an HTTP/2 receiver has not looked at when it ends the connection with an error are sent over another one', async (t) => {
  const AT_A_TIME = 5
  const INTERNAL_ERROR = 2
  const server = createSecureServer(certificate)
  const first: ServerHttp2Stream[] = []
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    if (first.length === AT_A_TIME) return stream.respond({ ':status': 200 }, { endStream: true })
    if (first.push(stream) < AT_A_TIME) return
    const [seen] = first as [ServerHttp2Stream]
    seen.respond({ ':status': 201 }, { endStream: true })
    seen.session?.goaway(INTERNAL_ERROR, seen.id)
  })
  const { port } = await listen(server)
  t.after(() => server.close())
  const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
  t.after(() => courier.close())
  const attempts = Array.from({ length: AT_A_TIME }, () => courier.deliver(deliveryTo(`https://127.0.0.1:${port}/`)))
  const deliveries = await Promise.all(attempts)
  for (const { verdict } of deliveries) assert.equal(verdict.result, 'success', verdict.message)
  assert.equal(deliveries.filter(({ statusCode }) => statusCode === 201).length, 1, 'what was seen is not sent again')
})

test('a request that an HTTP/2 receiver had looked at when it ended the connection with an error is not sent twice', async (t) => {
  const INTERNAL_ERROR = 2
  const server = createSecureServer(certificate)
  let count = 0
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    count++
    stream.session?.goaway(INTERNAL_ERROR, stream.id)
  })
  const { port } = await listen(server)
  t.after(() => server.close())
  const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(`https://127.0.0.1:${port}/`))
  assert.equal(verdict.result, 'retryable')
  assert.equal(count, 1)
})
