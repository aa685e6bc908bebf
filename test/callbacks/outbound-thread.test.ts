import assert from 'node:assert/strict'
import { EventEmitter, getEventListeners, once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Worker as Thread, type Worker } from 'node:worker_threads'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import type { Delivery } from '../../src/callbacks/destination/send/delivery.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { Exchange } from '../../src/platform/outbound/exchange.ts'
import { isNotBegun } from '../../src/platform/outbound/not-begun.ts'
import { OutboundThread, startOutboundThread } from '../../src/platform/outbound/outbound-thread.ts'
import {
  AnswerPack,
  type ToOutboundThread,
  unpackAnswers,
  unpackRequests,
} from '../../src/platform/outbound/thread-messages.ts'
import { countObjects } from '../support/count-objects.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { NO_SERVER } from '../support/no-server.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'

const clock = new SystemClock()
const log = silentLogger()

test('a thread delivers method, path, headers and bytes as they are, and tells where they went', async (t) => {
  await using receiver = await startReceiver({ answer: { status: 201, body: 'thank you' } })
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
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
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const texts = Array.from({ length: 50 }, (_, number) => 'x'.repeat(number))
  const deliveries = await Promise.all(texts.map((body) => courier.deliver(deliveryTo(receiver.url, { body }))))
  assert.deepEqual(
    deliveries.map(({ snippet }) => snippet),
    texts.map((text) => `says ${text}`),
  )
})

test('a large request goes to the thread alone: one that hangs would keep the memory of those beside it', async (t) => {
  await using receiver = await startReceiver()
  const sizes: number[] = []
  const startThread: typeof startOutboundThread = (data) => {
    const thread = startOutboundThread(data)
    const post = thread.postMessage.bind(thread)
    thread.postMessage = (message, list) => {
      if (message !== 'close') sizes.push(message.bytes.byteLength)
      post(message, list as [])
    }
    return thread
  }
  const outbound = new OutboundThread({ log, startThread })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const bodies = [10, 70_000, 20, 30, 80_000, 70_000].map((length) => 'x'.repeat(length))
  await Promise.all(bodies.map((body) => courier.deliver(deliveryTo(receiver.url, { body }))))
  assert.deepEqual(
    sizes.map((size) => Math.floor(size / 10_000)),
    [0, 7, 0, 8, 7],
  )
  const arrived = receiver.requests.all.map(({ body }) => body.length)
  assert.deepEqual(arrived.sort(), bodies.map(({ length }) => length).sort())
})

test('a thread reads what a refusal says, headers included', async (t) => {
  const answer = { status: 503, headers: { 'retry-after': '7' }, body: 'later' }
  await using receiver = await startReceiver({ answer })
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const { verdict } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(verdict.label, 'handler-error:UNAVAILABLE')
  assert.equal(verdict.retryAfterMs, 7_000)
})

test('a thread connects to no address that is denied, whatever name leads there', async (t) => {
  await using receiver = await startReceiver()
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const { verdict, address } = await courier.deliver(
    deliveryTo(`http://localhost:${receiver.port}/`, { allowedCidrs: [] }),
  )
  assert.equal(verdict.result, 'terminal')
  assert.equal(verdict.message, 'destination address not allowed')
  assert.equal(address, null)
  assert.equal(receiver.connections.all.length, 0)
})

test('a thread tells why there was no answer', async (t) => {
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const { verdict } = await courier.deliver(deliveryTo(NO_SERVER))
  assert.equal(verdict.result, 'retryable')
  assert.match(verdict.message, /ECONNREFUSED/)
})

test('a thread gives an attempt up when its time is over', async (t) => {
  await using receiver = await startReceiver({ answer: null })
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  await courier.preparing()
  let delivery: Delivery | undefined
  for (let timeoutMs = 50; delivery === undefined; timeoutMs *= 2) {
    delivery = await courier.deliver(deliveryTo(receiver.url, { timeoutMs })).catch((error: Error) => {
      // On a busy machine its time was over before it was sent.
      if (!isNotBegun(error.cause) || timeoutMs > 5_000) throw error
      return undefined
    })
  }
  assert.equal(delivery.verdict.label, 'request-timeout')
})

test('an attempt whose time was over before the thread had it is not sent any more and is none', async (t) => {
  await using receiver = await startReceiver()
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  await courier.deliver(deliveryTo(`${receiver.url}/first`))
  const second = courier.deliver(deliveryTo(`${receiver.url}/second`, { timeoutMs: 50 }))
  standStill(60)
  await assert.rejects(second, (error: Error) => isNotBegun(error.cause))
  await courier.deliver(deliveryTo(`${receiver.url}/third`))
  assert.deepEqual(
    receiver.requests.all.map(({ path }) => path),
    ['/first', '/third'],
  )
})

test('who waits until the thread can send loses none of its time: it is begun, and says when', async (t) => {
  const threads: Worker[] = []
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  t.after(() => outbound.close())
  const preparing = [outbound.preparing(), outbound.preparing()]
  assert.ok(preparing[0] !== null && preparing[0] === preparing[1])
  await preparing[0]
  assert.equal(outbound.preparing(), null)
  await threads[0]?.terminate()
  assert.notEqual(outbound.preparing(), null)
  await outbound.preparing()
  assert.equal(threads.length, 2)
})

test('who waits for a thread that cannot begin, or is closed, is not kept waiting', async () => {
  const outbound = new OutboundThread({ log, startThread: () => stillborn() })
  await outbound.preparing()
  const unable = new OutboundThread({
    log,
    startThread: () => {
      throw new Error('ERR_WORKER_INIT_FAILED')
    },
  })
  assert.equal(unable.preparing(), null)
  const closed = new OutboundThread({ log })
  const preparing = closed.preparing()
  await Promise.all([closed.close(), preparing])
  assert.equal(closed.preparing(), null)
})

test('a thread tells of an answer that it has the beginning of, and that its time was over', () => {
  const answer = { status: 503, statusText: 'No', headers: { 'retry-after': '7' }, body: Buffer.from('part') }
  const late = { ...answer, bodyProblem: 'the attempt took longer than 50 ms', isLate: true }
  const pack = new AnswerPack()
  pack.add(1, { answer: late, address: '127.0.0.1' }, true)
  const [[, exchanged] = []] = [...unpackAnswers(pack.message())]
  assert.deepEqual({ ...exchanged?.answer, body: Buffer.from(exchanged?.answer?.body ?? '') }, late)
})

test('a thread breaks a request off when its signal is aborted', async (t) => {
  await using receiver = await startReceiver({ answer: null })
  const outbound = new OutboundThread({ log })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const abort = new AbortController()
  const delivery = courier.deliver(deliveryTo(receiver.url, { signal: abort.signal }))
  const socket = await receiver.connections.next()
  await receiver.requests.next()
  abort.abort(new Error('terminated'))
  await assert.rejects(delivery, /terminated/)
  await socketClosed(socket)
  await assert.rejects(courier.deliver(deliveryTo(receiver.url, { signal: abort.signal })), /terminated/)
  assert.equal(receiver.requests.all.length, 1)
  assert.deepEqual(getEventListeners(abort.signal, 'abort'), [])
})

test('what was not handed over when a thread ended has failed, and is not sent by the next one', async (t) => {
  const threads: EventEmitter[] = []
  const posted: ToOutboundThread[] = []
  const startThread = () => {
    const thread: EventEmitter = Object.assign(new EventEmitter(), {
      postMessage(message: ToOutboundThread | 'close') {
        if (message === 'close') thread.emit('exit', 0)
        else posted.push(message)
      },
    })
    threads.push(thread)
    return thread as Worker
  }
  const outbound = new OutboundThread({ log, startThread })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const first = courier.deliver(deliveryTo('http://127.0.0.1/first'))
  await setImmediate()
  const second = courier.deliver(deliveryTo('http://127.0.0.1/second'))
  threads[0]?.emit('online')
  threads[0]?.emit('exit', 1)
  assert.deepEqual([(await first).verdict.result, (await second).verdict.result], ['retryable', 'retryable'])
  const third = assert.rejects(courier.deliver(deliveryTo('http://127.0.0.1/third')), /stopping/)
  await setImmediate()
  assert.deepEqual(
    posted.map((message) => [...unpackRequests(message)].length),
    [1, 1],
  )
  await outbound.close()
  await third
})

test('a thread checks certificates, with the authorities that it was given', async (t) => {
  const authority = createCertificate(['authority'])
  await using receiver = await startReceiver({ tls: createCertificate(['127.0.0.1'], authority) })
  const threads = [new OutboundThread({ log, extraCa: [authority.cert] }), new OutboundThread({ log })]
  t.after(() => Promise.all(threads.map((outbound) => outbound.close())))
  const [trusting, strict] = threads.map((outbound) => new Courier({ clock, outbound })) as [Courier, Courier]
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
  await Promise.all([outbound.close(), assert.rejects(delivery, /stopping/), ended])
  await assert.rejects(courier.deliver(deliveryTo(receiver.url)), /stopping/)
  await outbound.close()
})

test('what was not handed over when it is closed is sent by nobody, and begins no thread', async (t) => {
  await using receiver = await startReceiver()
  const threads: Worker[] = []
  t.after(() => Promise.all(threads.map((thread) => thread.terminate())))
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  const refused = assert.rejects(new Courier({ clock, outbound }).deliver(deliveryTo(receiver.url)), /stopping/)
  await Promise.all([outbound.close(), refused])
  await setImmediate()
  assert.equal(threads.length, 0)
})

test('a thread keeps nothing of requests that are over, nor of those whose time was over at once', async (t) => {
  await using receiver = await startReceiver()
  const threads: Worker[] = []
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  for (let n = 0; n < 50; n++) await courier.deliver(deliveryTo(receiver.url))
  for (let n = 0; n < 50; n++) {
    const late = courier.deliver(deliveryTo(receiver.url, { timeoutMs: 1 }))
    standStill(2)
    await assert.rejects(late, (error: Error) => isNotBegun(error.cause))
  }
  const kept = await countObjects(threads[0] as Worker, Exchange.name)
  assert.ok(kept < 10, `it keeps ${kept}`)
})

test('who closes a courier closes no thread that others use, too', async (t) => {
  await using receiver = await startReceiver()
  const outbound = new OutboundThread({ log })
  t.after(() => outbound.close())
  const [closed, other] = [new Courier({ clock, outbound }), new Courier({ clock, outbound })]
  assert.equal((await closed.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  await closed.close()
  await assert.rejects(closed.deliver(deliveryTo(receiver.url)), /stopping/)
  assert.equal((await other.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('closing ends a thread that does not end by itself', async () => {
  const time = new FakeClock()
  const threads: Worker[] = []
  const outbound = new OutboundThread({
    log,
    clock: time,
    startThread: () => {
      const thread = new Thread('require("node:worker_threads").parentPort.on("message", () => {})', { eval: true })
      threads.push(thread)
      return thread
    },
  })
  const delivery = new Courier({ clock, outbound }).deliver(deliveryTo('http://127.0.0.1:9/'))
  const refused = assert.rejects(delivery, /stopping/)
  while (threads.length === 0) await setImmediate()
  await once(threads[0] as Worker, 'online')
  const closed = outbound.close()
  await refused
  await time.advance(10_000)
  await closed
})

test('what was under way in a thread that ended has failed, and the next request begins another thread', async (t) => {
  await using receiver = await startReceiver()
  receiver.script(null)
  const threads: Worker[] = []
  const outbound = new OutboundThread({ log, startThread: (data) => started(threads, data) })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  const delivery = courier.deliver(deliveryTo(receiver.url))
  await receiver.requests.next()
  await threads[0]?.terminate()
  assert.equal((await delivery).verdict.result, 'retryable')
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  assert.equal(threads.length, 2)
})

test('what a thread that cannot be started was to send is no attempt, and is sent by the next one', async (t) => {
  await using receiver = await startReceiver()
  const unable = [
    // Too many files are open, or no further thread may be begun.
    () => {
      throw new Error('ERR_WORKER_INIT_FAILED')
    },
    () => stillborn(),
  ]
  const outbound = new OutboundThread({ log, startThread: (data) => unable.pop()?.() ?? startOutboundThread(data) })
  const courier = new Courier({ clock, outbound })
  t.after(() => outbound.close())
  while (unable.length > 0) {
    await assert.rejects(courier.deliver(deliveryTo(receiver.url)), { code: 'unavailable', message: /ulimit -n/ })
  }
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

/** As Node tells of a thread for which it could open no file. */
function stillborn(): Worker {
  const thread = Object.assign(new EventEmitter(), { postMessage: () => {} })
  queueMicrotask(() => {
    thread.emit(
      'error',
      Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' }),
    )
    thread.emit('exit', 1)
  })
  return thread as unknown as Worker
}

function started(threads: Worker[], data: Parameters<typeof startOutboundThread>[0]): Worker {
  const thread = startOutboundThread(data)
  threads.push(thread)
  return thread
}

/** As a process that is stopped. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
