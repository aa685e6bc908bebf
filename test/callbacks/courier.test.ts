import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { startRawReceiver } from '../support/receivers/raw-receiver.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'

const clock = new SystemClock()
const NO_LENGTH = 'content-length: 0\r\n\r\n'
const NO_BODY = `HTTP/1.1 200 OK\r\n${NO_LENGTH}`
const KEEPS = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout='

test('delivers method, path, headers and bytes as they are, and tells where they went', async (t) => {
  await using receiver = await startReceiver({ answer: { status: 201, body: 'thank you' } })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const body = Buffer.from([0, 1, 2, 255, 13, 10])
  const delivery = await courier.deliver(
    deliveryTo(`${receiver.url}/in//box?a=b%20c&d#fragment`, {
      headers: { 'content-type': 'application/octet-stream', 'x-text': Buffer.from('grüße').toString('latin1') },
      body,
    }),
  )
  assert.deepEqual(delivery, {
    verdict: { result: 'success', errorType: '', message: '', label: 'success' },
    statusCode: 201,
    snippet: 'thank you',
    address: '127.0.0.1',
  })
  const request = await receiver.requests.next()
  assert.equal(request.method, 'POST')
  assert.equal(request.path, '/in//box?a=b%20c&d')
  assert.deepEqual(request.body, body)
  assert.equal(request.headers.host, `127.0.0.1:${receiver.port}`)
  assert.equal(request.headers['content-length'], '6')
  assert.equal(request.headers['transfer-encoding'], undefined)
  assert.equal(Buffer.from(request.headers['x-text'] as string, 'latin1').toString(), 'grüße')
})

test('an empty body has its length, too', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  await courier.deliver(deliveryTo(receiver.url, { headers: { 'content-length': '0' } }))
  const request = await receiver.requests.next()
  assert.equal(request.headers['content-length'], '0')
  assert.equal(request.body.length, 0)
  assert.equal(request.path, '/')
})

test('one after the other use one connection', async (t) => {
  await using receiver = await startReceiver({ answer: { body: 'ok' } })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (let count = 0; count < 20; count++) await courier.deliver(deliveryTo(`${receiver.url}/${count}`))
  assert.equal(receiver.requests.all.length, 20)
  assert.equal(receiver.connections.all.length, 1)
})

test('at a time use a connection each, and later attempts use the same ones', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (let round = 0; round < 3; round++) {
    const deliveries = await Promise.all(Array.from({ length: 50 }, () => courier.deliver(deliveryTo(receiver.url))))
    assert.ok(deliveries.every(({ verdict }) => verdict.result === 'success'))
  }
  assert.equal(receiver.requests.all.length, 150)
  assert.equal(receiver.connections.all.length, 50)
})

test('namespaces that may reach different addresses do not share connections', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  await courier.deliver(deliveryTo(receiver.url, { allowedCidrs: ['127.0.0.0/8'] }))
  await courier.deliver(deliveryTo(receiver.url, { allowedCidrs: ['127.0.0.1/32'] }))
  await courier.deliver(deliveryTo(receiver.url, { allowedCidrs: ['127.0.0.0/8'] }))
  const { verdict } = await courier.deliver(deliveryTo(receiver.url, { allowedCidrs: [] }))
  assert.equal(verdict.result, 'terminal')
  assert.deepEqual(
    receiver.requests.all.map(({ connection }) => connection),
    [0, 1, 0],
  )
})

test('a connection is not used for longer than a minute', async (t) => {
  await using receiver = await startReceiver()
  const time = new FakeClock()
  const courier = new Courier({ clock: time })
  t.after(() => courier.close())
  await courier.deliver(deliveryTo(receiver.url))
  await time.advance(59_999)
  await courier.deliver(deliveryTo(receiver.url))
  await time.advance(1)
  await courier.deliver(deliveryTo(receiver.url))
  assert.deepEqual(
    receiver.requests.all.map(({ connection }) => connection),
    [0, 0, 1],
  )
})

test('an idle connection is closed, also one that the receiver would keep for ever', async (t) => {
  await using receiver = await startRawReceiver((socket) => socket.write(NO_BODY))
  const courier = new Courier({ clock, keepAliveMs: 1 })
  t.after(() => courier.close())
  await courier.deliver(deliveryTo(receiver.url))
  await (await receiver.connections.next()).closed
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('a connection is kept for as long as the receiver says it does, less a little', async (t) => {
  await using patient = await startRawReceiver((socket) => socket.write(`${KEEPS}100\r\n${NO_LENGTH}`))
  await using hasty = await startRawReceiver((socket) => socket.write(`${KEEPS}2\r\n${NO_LENGTH}`))
  await using silent = await startRawReceiver((socket) => socket.write(NO_BODY))
  const couriers = [new Courier({ clock, keepAliveMs: 1 }), new Courier({ clock, keepAliveMs: 60_000 })] as const
  t.after(() => Promise.all(couriers.map((courier) => courier.close())))
  await couriers[1].deliver(deliveryTo(hasty.url))
  await (await hasty.connections.next()).closed
  await couriers[0].deliver(deliveryTo(patient.url))
  // Its time begins later and is over.
  await couriers[0].deliver(deliveryTo(silent.url))
  await (await silent.connections.next()).closed
  await couriers[0].deliver(deliveryTo(patient.url))
  assert.equal(patient.connections.all.length, 1)
})

test('a receiver that closes after each answer, or closes what was kept, costs no attempt', async (t) => {
  await using receiver = await startReceiver({ answer: { headers: { connection: 'close' } } })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (let count = 0; count < 5; count++) {
    assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  }
  receiver.script({})
  await courier.deliver(deliveryTo(receiver.url))
  const kept = [...receiver.open]
  for (const socket of kept) {
    socket.end()
    await socketClosed(socket)
  }
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('a request for a connection that the receiver has closed meanwhile goes over another one', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (let round = 1; round <= 10; round++) {
    await Promise.all([courier.deliver(deliveryTo(receiver.url)), courier.deliver(deliveryTo(receiver.url))])
    // From here the event loop reads from its sockets before it writes.
    await setImmediate()
    for (const socket of receiver.open) socket.destroy()
    assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
    assert.equal(receiver.requests.all.length, 3 * round)
  }
})

test('closing breaks off what goes over another connection since the receiver has closed the first one', async () => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  await courier.deliver(deliveryTo(receiver.url))
  receiver.script(null)
  // From here the event loop reads from its sockets before it writes.
  await setImmediate()
  for (const socket of receiver.open) socket.destroy()
  const underway = courier.deliver(deliveryTo(receiver.url, { timeoutMs: 60_000 }))
  const outcome = assert.rejects(underway, /stopping/)
  await receiver.requests.take(2)
  assert.equal(receiver.connections.all.length, 2)
  const closed = [...receiver.open].map(socketClosed)
  await Promise.all([courier.close(), outcome, ...closed])
})

test('closing breaks off what goes over another connection since the first one is too old', async () => {
  await using receiver = await startReceiver()
  const time = new FakeClock()
  const courier = new Courier({ clock: time })
  await courier.deliver(deliveryTo(receiver.url))
  await time.advance(60_000)
  receiver.script(null)
  const outcome = assert.rejects(courier.deliver(deliveryTo(receiver.url)), /stopping/)
  await receiver.requests.take(2)
  const closed = [...receiver.open].map(socketClosed)
  await Promise.all([courier.close(), outcome, ...closed])
})

test('the least recently used origin is given up when there are too many, never one that is busy', async (t) => {
  await using busy = await startReceiver({ answer: null })
  await using first = await startReceiver()
  await using second = await startReceiver()
  await using third = await startReceiver()
  const courier = new Courier({ clock, maxOrigins: 3, keepAliveMs: 60_000 })
  t.after(() => courier.close())
  const abort = new AbortController()
  const underway = courier.deliver(deliveryTo(busy.url, { signal: abort.signal }))
  await busy.requests.next()
  await courier.deliver(deliveryTo(first.url))
  await courier.deliver(deliveryTo(second.url))
  await courier.deliver(deliveryTo(first.url))
  const closed = socketClosed(await second.connections.next())
  await courier.deliver(deliveryTo(third.url))
  await courier.deliver(deliveryTo(first.url))
  await courier.deliver(deliveryTo(second.url))
  assert.deepEqual([first.connections.all.length, second.connections.all.length], [1, 2])
  await closed
  assert.deepEqual([busy.open.size, first.open.size, second.open.size], [1, 1, 1])
  abort.abort(new Error('enough'))
  await assert.rejects(underway, /enough/)
})

test('an abort closes the socket and rejects with its reason, before, during and after the answer', async (t) => {
  await using receiver = await startReceiver({ answer: null })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const reason = new Error('terminated')
  await assert.rejects(courier.deliver(deliveryTo(receiver.url, { signal: AbortSignal.abort(reason) })), reason)
  assert.equal(receiver.connections.all.length, 0)

  const silent = new AbortController()
  const waiting = courier.deliver(deliveryTo(receiver.url, { signal: silent.signal }))
  const request = await receiver.requests.next()
  silent.abort(reason)
  await assert.rejects(waiting, reason)
  await request.closed

  receiver.script((_request, response) => {
    response.writeHead(500)
    response.write('half of it')
    return null
  })
  const broken = new AbortController()
  const halfway = courier.deliver(deliveryTo(receiver.url, { signal: broken.signal }))
  const second = await receiver.requests.next()
  broken.abort(reason)
  await assert.rejects(halfway, reason)
  await second.closed

  receiver.script({})
  const late = new AbortController()
  const { verdict } = await courier.deliver(deliveryTo(receiver.url, { signal: late.signal }))
  assert.deepEqual(getEventListeners(late.signal, 'abort'), [])
  late.abort(reason)
  assert.equal(verdict.result, 'success')
  assert.equal(receiver.open.size, 1)
})

test('a hundred attempts at a time may share a signal', async (t) => {
  await using receiver = await startReceiver()
  const warnings: Error[] = []
  const warned = (warning: Error) => warnings.push(warning)
  process.on('warning', warned)
  t.after(() => process.off('warning', warned))
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 100 }, () => courier.deliver(deliveryTo(receiver.url, { signal }))))
  assert.deepEqual(warnings, [])
})

test('closing breaks off what is underway, closes every socket and takes nothing more', async () => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  await courier.deliver(deliveryTo(receiver.url))
  receiver.script(null)
  const underway = courier.deliver(deliveryTo(receiver.url))
  await receiver.requests.take(2)
  const closed = [...receiver.open].map(socketClosed)
  await Promise.all([courier.close(), assert.rejects(underway, /stopping/), ...closed])
  await assert.rejects(courier.deliver(deliveryTo(receiver.url)), /stopping/)
})

test('headers cannot add lines, requests or another host', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const hostile: Record<string, string>[] = [
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\nx-c: d' },
    { 'x-a': 'b\0' },
    { 'x a': 'b' },
    { 'x-a\r\nx-c': 'd' },
    { '': 'd' },
  ]
  for (const headers of hostile) {
    const { verdict, statusCode } = await courier.deliver(deliveryTo(receiver.url, { headers }))
    assert.notEqual(verdict.result, 'success')
    assert.equal(statusCode, null)
  }
  assert.equal(receiver.requests.all.length, 0)
  const headers = {
    host: 'elsewhere.example.org',
    Host: 'elsewhere.example.org',
    'content-length': '3',
    'Transfer-Encoding': 'chunked',
    connection: 'upgrade',
    upgrade: 'websocket',
    expect: '100-continue',
    'keep-alive': 'timeout=100',
  }
  const { verdict } = await courier.deliver(deliveryTo(receiver.url, { headers, body: 'whole' }))
  assert.equal(verdict.result, 'success')
  const request = await receiver.requests.next()
  assert.equal(request.headers.host, `127.0.0.1:${receiver.port}`)
  assert.equal(request.headers['content-length'], '5')
  assert.equal(request.headers.connection, 'keep-alive')
  assert.equal(request.headers['transfer-encoding'] ?? request.headers.upgrade ?? request.headers.expect, undefined)
})

test('redirects are not followed', async (t) => {
  await using elsewhere = await startReceiver()
  await using receiver = await startReceiver({ answer: { status: 307, headers: { location: elsewhere.url } } })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const { verdict, statusCode } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(statusCode, 307)
  assert.equal(verdict.result, 'retryable')
  assert.match(verdict.message, /unexpected response status: "307/)
  assert.equal(elsewhere.connections.all.length, 0)
})

test('proxies of the environment are not used', async (t) => {
  await using proxy = await startReceiver()
  await using receiver = await startReceiver()
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy']
  for (const name of names) process.env[name] = proxy.url
  t.after(() => {
    for (const name of names) delete process.env[name]
  })
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  await courier.deliver(deliveryTo(receiver.url))
  assert.equal(receiver.requests.all.length, 1)
  assert.equal(proxy.connections.all.length, 0)
})
