import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { NO_SERVER } from '../support/no-server.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { startRawReceiver } from '../support/receivers/raw-receiver.ts'
import { startReceiver } from '../support/receivers/receiver.ts'

const clock = new SystemClock()
const LIMIT = 64 * 1024
/** Longer than any test waits. */
const LONG_MS = 1_000_000_000

/** What becomes of an attempt that these bytes are the answer to. */
async function answeredWith(onRequest: string | ((socket: Socket) => void)) {
  await using receiver = await startRawReceiver((socket) => {
    if (typeof onRequest === 'string') socket.write(onRequest, 'latin1')
    else onRequest(socket)
  })
  const courier = new Courier({ clock })
  try {
    return await courier.deliver(deliveryTo(receiver.url, { body: '{}' }))
  } finally {
    await courier.close()
  }
}

test('statuses, headers and bodies are read as the contract says', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const deliver = () => courier.deliver(deliveryTo(receiver.url))

  receiver.script({ status: 404 })
  assert.equal((await deliver()).verdict.errorType, 'NOT_FOUND')
  receiver.script({ status: 503, headers: { 'retry-after': '7' } })
  assert.equal((await deliver()).verdict.retryAfterMs, 7000)
  receiver.script({ status: 400, headers: { 'Nexus-Request-Retryable': 'TRUE' } })
  assert.equal((await deliver()).verdict.result, 'retryable')
  const failure = {
    message: 'no',
    metadata: { type: 'nexus.HandlerError' },
    details: { type: 'INTERNAL', retryableOverride: false },
  }
  receiver.script({ status: 500, headers: { 'content-type': 'application/json' }, body: JSON.stringify(failure) })
  const { verdict, snippet } = await deliver()
  assert.equal(verdict.result, 'terminal')
  assert.equal(verdict.message, 'handler error (INTERNAL): no')
  assert.equal(snippet, JSON.stringify(failure))
  receiver.script((_request, response) => {
    response.writeHead(418, 'Short and stout')
    response.end()
    return null
  })
  assert.equal((await deliver()).verdict.message, 'unexpected response status: "418 Short and stout"')
  assert.equal(receiver.connections.all.length, 1)
})

test('Retry-After counts up to the longest delay of the namespace', async (t) => {
  await using receiver = await startReceiver({ answer: { status: 429, headers: { 'retry-after': '9999' } } })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.retryAfterMs, 3_600_000)
  assert.equal((await courier.deliver(deliveryTo(receiver.url, { maxDelayMs: 5000 }))).verdict.retryAfterMs, 5000)
})

test('interim answers are skipped, also one that nobody asked for, in any pieces', async (t) => {
  const final = 'HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone'
  const interim = {
    continue: 'HTTP/1.1 100 Continue\r\n\r\n',
    'continue with headers': 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n',
    'continue twice': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    processing: 'HTTP/1.1 102 Processing\r\n\r\n',
    'early hints': 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    mixed: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(interim)) {
    await t.test(name, async () => {
      const whole = await answeredWith(bytes + final)
      assert.equal(whole.statusCode, 404)
      assert.equal(whole.snippet, 'gone')
      const pieces = await answeredWith(async (socket) => {
        for (const byte of bytes + final) {
          await new Promise((resolve) => socket.write(byte, resolve))
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
      assert.equal(pieces.statusCode, 404)
      assert.equal(pieces.snippet, 'gone')
    })
  }
})

test('a connection can be used again after an interim answer', async (t) => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (let count = 0; count < 5; count++) {
    assert.equal((await courier.deliver(deliveryTo(receiver.url))).snippet, 'ok')
  }
  assert.equal(receiver.connections.all.length, 1)
})

test('a receiver that switches protocols answers with an unexpected status', async () => {
  const { verdict, statusCode } = await answeredWith(
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  )
  assert.equal(verdict.result, 'retryable')
  assert.equal(verdict.message, 'unexpected response status: "101 Switching Protocols"')
  assert.equal(statusCode, 101)
})

test('what is no answer is worth another try, and says what was wrong', async (t) => {
  const broken: Record<string, string | ((socket: Socket) => void)> = {
    'garbage instead of HTTP': 'SSH-2.0-OpenSSH_9.9\r\n',
    'binary garbage': '\x16\x03\x01\0\xff\xfe\r\n\r\n',
    'too many headers': `HTTP/1.1 404 Not Found\r\nx-a: ${'b'.repeat(20_000)}\r\n\r\n`,
    'two lengths': 'HTTP/1.1 500 No\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'a length that is none': 'HTTP/1.1 500 No\r\ncontent-length: -1\r\n\r\n',
    'broken chunks': 'HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n',
    'an interim answer without end': `HTTP/1.1 100 Continue\r\nx-a: ${'b'.repeat(20_000)}`,
    'closed without an answer': (socket) => socket.end(),
    'reset without an answer': (socket) => socket.resetAndDestroy(),
    'closed within the headers': (socket) => socket.end('HTTP/1.1 404 Not'),
    'reset within the body': (socket) => {
      socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 100\r\n\r\npart', () =>
        setImmediate(() => socket.resetAndDestroy()),
      )
    },
    'less than it promised': (socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 100\r\n\r\npart'),
    'chunks without end': (socket) =>
      socket.end('HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n'),
  }
  const BEGUN = ['broken chunks', 'reset within the body', 'less than it promised', 'chunks without end']
  for (const [name, onRequest] of Object.entries(broken)) {
    await t.test(name, async () => {
      const { verdict, statusCode } = await answeredWith(onRequest)
      assert.equal(verdict.result, 'retryable')
      assert.equal(verdict.label, 'unknown-error')
      assert.notEqual(verdict.message, '')
      assert.equal(statusCode, BEGUN.includes(name) ? 404 : null)
    })
  }
})

test('more than it promised is the next answer to nobody: the connection is dropped', async (t) => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n')
  })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  await (await receiver.connections.next()).closed
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('an answer that comes unasked while nothing is under way is none to the next request: the connection is dropped', async (t) => {
  await using receiver = await startRawReceiver((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  )
  const courier = new Courier({ clock, keepAliveMs: LONG_MS })
  t.after(() => courier.close())
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  const { socket, closed } = await receiver.connections.next()
  socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n')
  await closed
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('a success is one as soon as its headers are in, however its body goes on', async (t) => {
  const head = 'HTTP/1.1 202 Accepted\r\n'
  const endings: Record<string, (socket: Socket) => void> = {
    'a reset': (socket) => {
      socket.write(`${head}content-length: 100\r\n\r\npart`, () => setImmediate(() => socket.resetAndDestroy()))
    },
    'less than promised': (socket) => socket.end(`${head}content-length: 100\r\n\r\npart`),
    'broken chunks': (socket) => socket.write(`${head}transfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n`),
    'too much': (socket) => socket.write(`${head}content-length: 100000\r\n\r\npart${'x'.repeat(99_996)}`),
    'a body until the end': (socket) => socket.end(`${head}\r\npart`),
  }
  for (const [name, onRequest] of Object.entries(endings)) {
    await t.test(name, async () => {
      const { verdict, statusCode, snippet } = await answeredWith(onRequest)
      assert.equal(verdict.result, 'success')
      assert.equal(statusCode, 202)
      assert.ok(snippet.startsWith('part'))
      assert.ok(snippet.length <= 1024)
    })
  }
})

test('a body of 64 KiB is read, one byte more drops the connection', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const failure = (length: number) => {
    const json = JSON.stringify({ message: 'x', metadata: {}, pad: '' })
    return json.replace('""', `"${'p'.repeat(length - json.length)}"`)
  }
  receiver.script({ status: 404, headers: { 'content-type': 'application/json' }, body: failure(LIMIT) })
  const fits = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(fits.verdict.message, 'handler error (NOT_FOUND): x')
  assert.equal(fits.snippet.length, 1024)
  assert.equal(receiver.open.size, 1)

  receiver.script({ status: 404, headers: { 'content-type': 'application/json' }, body: failure(LIMIT + 1) })
  const over = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(over.verdict.result, 'retryable')
  assert.equal(over.verdict.message, 'the answer is larger than 64 KiB')
  assert.equal(over.statusCode, 404)
  await (await receiver.requests.take(2))[1]?.closed
})

test('a body that comes byte by byte is put together again', async (t) => {
  const json = JSON.stringify({ message: 'whole', metadata: {}, pad: 'p'.repeat(10_000) })
  const chunks = Array.from(json, (char) => `1\r\n${char}\r\n`).join('')
  const head = 'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  await using receiver = await startRawReceiver((socket) => socket.write(`${head}${chunks}0\r\n\r\n`))
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const { verdict, snippet } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(verdict.message, 'handler error (NOT_FOUND): whole')
  assert.equal(snippet, json.slice(0, 1024))
})

test('a body without end is cut off where it gets too large', async (t) => {
  const { promise: cut, resolve } = Promise.withResolvers<void>()
  await using receiver = await startRawReceiver((socket) => {
    socket.once('close', () => resolve())
    socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    const write = () => {
      if (!socket.destroyed) socket.write(chunk, write)
    }
    write()
  })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(verdict.result, 'retryable')
  await cut
})

test('an answer that does not come, or not to an end, takes the time of the attempt and closes the socket', async (t) => {
  const dawdling: Record<string, (socket: Socket) => void> = {
    'no answer': () => {},
    'headers without end': (socket) => socket.write('HTTP/1.1 500 No\r\nx-a: b\r\nx-c:'),
    'a body without end': (socket) => socket.write('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\npart'),
    'interim answers only': (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'),
  }
  for (const [name, onRequest] of Object.entries(dawdling)) {
    await t.test(name, async () => {
      const asked = Promise.withResolvers<void>()
      await using receiver = await startRawReceiver((socket) => {
        onRequest(socket)
        asked.resolve()
      })
      const time = new FakeClock()
      const courier = new Courier({ clock: time })
      const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs: 3000 }))
      await asked.promise
      await time.advance(2999)
      const { closed } = await receiver.connections.next()
      await time.advance(1)
      const { verdict } = await delivery
      assert.deepEqual(verdict, {
        result: 'retryable',
        errorType: '',
        message: 'the attempt took longer than 3000 ms',
        label: 'request-timeout',
      })
      await closed
      assert.equal(time.waiting, 0)
      await courier.close()
    })
  }
})

test('a refusal whose body does not end in time has its status, its beginning and what it asks for', async (t) => {
  const answered = Promise.withResolvers<void>()
  await using receiver = await startRawReceiver((socket) =>
    socket.write('HTTP/1.1 503 No\r\nretry-after: 600\r\ncontent-length: 9\r\n\r\npart', () => answered.resolve()),
  )
  const time = new FakeClock()
  const courier = new Courier({ clock: time })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs: 3000 }))
  await answered.promise
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  await time.advance(3000)
  assert.deepEqual(await delivery, {
    verdict: {
      result: 'retryable',
      errorType: '',
      message: 'the attempt took longer than 3000 ms',
      label: 'request-timeout',
      retryAfterMs: 600_000,
    },
    statusCode: 503,
    snippet: 'part',
    address: '127.0.0.1',
  })
  await (await receiver.connections.next()).closed
})

test('a success whose body dawdles does not wait for it, and lets the receiver end it', async (t) => {
  const time = new FakeClock()
  const answered = Promise.withResolvers<Socket>()
  await using receiver = await startRawReceiver((socket, count) => {
    const rest = () => answered.resolve(socket)
    if (count === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\npart', rest)
    else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  const courier = new Courier({ clock: time })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs: LONG_MS }))
  const socket = await answered.promise
  await advanceUntil(time, delivery)
  assert.equal((await delivery).verdict.result, 'success')
  assert.equal((await delivery).snippet, 'part')
  assert.equal(time.waiting, 1)
  socket.write('rest')
  await freed(time)
  await courier.deliver(deliveryTo(receiver.url))
  assert.equal(receiver.connections.all.length, 1)
})

test('a success whose body never ends is cut off when the time of the attempt is over', async (t) => {
  const time = new FakeClock()
  await using receiver = await startRawReceiver((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\npart'),
  )
  const courier = new Courier({ clock: time })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs: LONG_MS }))
  const { closed } = await receiver.connections.next()
  await advanceUntil(time, delivery)
  assert.equal((await delivery).verdict.result, 'success')
  await time.advance(LONG_MS)
  await closed
  assert.equal(time.waiting, 0)
})

test('a receiver that refuses connections is worth another try', async (t) => {
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const delivery = await courier.deliver(deliveryTo(NO_SERVER))
  assert.equal(delivery.verdict.result, 'retryable')
  assert.match(delivery.verdict.message, /ECONNREFUSED/)
  assert.equal(delivery.address, '127.0.0.1')
})

/** Lets a little time pass again and again: the beginning of the answer comes through a real socket. */
async function advanceUntil(time: FakeClock, delivery: Promise<unknown>): Promise<void> {
  let isSettled = false
  const settled = delivery.then(() => {
    isSettled = true
  })
  while (!isSettled) await time.advance(250)
  await settled
}

/** Resolves when no alarm is set any more. */
async function freed(time: FakeClock): Promise<void> {
  while (time.waiting > 0) await new Promise((resolve) => setImmediate(resolve))
}
