import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { Courier } from '../../src/callbacks/destination/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { OutboundThread, startOutboundThread } from '../../src/platform/outbound/outbound-thread.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'

const clock = new SystemClock()
const log = silentLogger()

test('a thread delivers method, path, headers and bytes as they are, and tells where they went', async (t) => {
  await using receiver = await startReceiver({ answer: { status: 201, body: 'thank you' } })
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const body = Buffer.from([0, 1, 2, 255, 13, 10])
  const headers = { 'x-text': Buffer.from('grüße').toString('latin1') }
  const delivery = await courier.deliver(deliveryTo(`${receiver.url}/in?a=b%20c`, { headers, body }))
  assert.deepEqual(delivery, {
    verdict: { result: 'success', errorType: '', message: '', label: 'success' },
    statusCode: 201,
    snippet: 'thank you',
    address: '127.0.0.1',
  })
  const request = await receiver.requests.next()
  assert.equal(request.method, 'POST')
  assert.equal(request.path, '/in?a=b%20c')
  assert.deepEqual(request.body, body)
  assert.equal(Buffer.from(request.headers['x-text'] as string, 'latin1').toString(), 'grüße')
})

test('a thread brings each of many at a time its own body and its own answer', async (t) => {
  await using receiver = await startReceiver({ answer: ({ body }) => ({ body: `says ${body}` }) })
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const texts = Array.from({ length: 50 }, (_, number) => 'x'.repeat(number))
  const deliveries = await Promise.all(texts.map((body) => courier.deliver(deliveryTo(receiver.url, { body }))))
  assert.deepEqual(
    deliveries.map(({ snippet }) => snippet),
    texts.map((text) => `says ${text}`),
  )
})

test('a thread reads what a refusal says, headers included', async (t) => {
  const answer = { status: 503, headers: { 'retry-after': '7' }, body: 'later' }
  await using receiver = await startReceiver({ answer })
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(verdict.label, 'handler-error:UNAVAILABLE')
  assert.equal(verdict.retryAfterMs, 7_000)
})

test('a thread connects to no address that is denied, whatever name leads there', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const { verdict, address } = await courier.deliver(
    deliveryTo(`http://localhost:${receiver.port}/`, { allowedCidrs: [] }),
  )
  assert.equal(verdict.result, 'terminal')
  assert.equal(verdict.message, 'destination address not allowed')
  assert.equal(address, null)
  assert.equal(receiver.connections.all.length, 0)
})

test('a thread tells why there was no answer', async (t) => {
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  const { verdict } = await courier.deliver(deliveryTo(`http://127.0.0.1:${port}/`))
  assert.equal(verdict.result, 'retryable')
  assert.match(verdict.message, /ECONNREFUSED/)
})

test('a thread gives an attempt up when its time is over', async (t) => {
  await using receiver = await startReceiver({ answer: null })
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(receiver.url, { timeoutMs: 50 }))
  assert.equal(verdict.label, 'request-timeout')
})

test('a thread breaks a request off when its signal is aborted', async (t) => {
  await using receiver = await startReceiver({ answer: null })
  const courier = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => courier.close())
  const abort = new AbortController()
  const delivery = courier.deliver(deliveryTo(receiver.url, { signal: abort.signal }))
  const socket = await receiver.connections.next()
  await receiver.requests.next()
  abort.abort(new Error('terminated'))
  await assert.rejects(delivery, /terminated/)
  await socketClosed(socket)
})

test('a thread checks certificates, with the authorities that it was given', async (t) => {
  const authority = createCertificate(['authority'])
  await using receiver = await startReceiver({ tls: createCertificate(['127.0.0.1'], authority) })
  const trusting = new Courier({ clock, outbound: new OutboundThread({ log, extraCa: [authority.cert] }) })
  const strict = new Courier({ clock, outbound: new OutboundThread({ log }) })
  t.after(() => Promise.all([trusting.close(), strict.close()]))
  assert.equal((await trusting.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  assert.equal((await strict.deliver(deliveryTo(receiver.url))).verdict.result, 'retryable')
})

test('closing rejects what is under way and what comes later, and ends the thread', async () => {
  await using receiver = await startReceiver({ answer: null })
  const threads: Worker[] = []
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  const courier = new Courier({ clock, outbound })
  const delivery = courier.deliver(deliveryTo(receiver.url))
  await receiver.requests.next()
  const ended = once(threads[0] as Worker, 'exit')
  await Promise.all([courier.close(), assert.rejects(delivery, /stopping/), ended])
  await assert.rejects(courier.deliver(deliveryTo(receiver.url)), /stopping/)
  await courier.close()
})

test('what was under way in a thread that ended has failed, and the next request begins another thread', async (t) => {
  await using receiver = await startReceiver()
  receiver.script(null)
  const threads: Worker[] = []
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  const courier = new Courier({ clock, outbound })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(receiver.url))
  await receiver.requests.next()
  await threads[0]?.terminate()
  assert.equal((await delivery).verdict.result, 'retryable')
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  assert.equal(threads.length, 2)
})

function started(threads: Worker[], data: Parameters<typeof startOutboundThread>[0]): Worker {
  const thread = startOutboundThread(data)
  threads.push(thread)
  return thread
}
