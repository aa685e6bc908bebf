// A process that stands still for a while, as when it is stopped or its machine is moved. When it goes on, sockets or timers have
// their turn first, as it happens.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { isNotBegun } from '../../src/platform/outbound/not-begun.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { type ReceiverOptions, socketClosed, startReceiver } from '../support/receivers/receiver.ts'

const certificate = createCertificate(['127.0.0.1'])

/** Once it stops, the time of all that anybody waits for is over, and rings only when it goes on. */
class StoppingClock extends SystemClock {
  readonly #alarms = new Set<() => void>()
  #passedMs = 0

  override elapsedMs(): number {
    return super.elapsedMs() + this.#passedMs
  }

  override after(ms: number, callback: () => void): () => void {
    const cancel = super.after(ms, callback)
    this.#alarms.add(callback)
    return () => {
      this.#alarms.delete(callback)
      cancel()
    }
  }

  stop(passedMs: number): void {
    this.#passedMs += passedMs
  }

  /** From the event loop's turn for timers, after which it looks at the sockets. */
  goOn(): void {
    super.after(0, () => {
      for (const ring of this.#alarms) ring()
    })
  }
}

const timeoutMs = 60_000
const isNone = (error: Error) => isNotBegun(error.cause)

test('an attempt whose time was over before a connection took it is not sent any more and is none', async (t) => {
  await using receiver = await startReceiver()
  const clock = new StoppingClock()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const first = await courier.deliver(deliveryTo(`${receiver.url}/first`))
  assert.equal(first.verdict.result, 'success', first.verdict.message)
  const second = courier.deliver(deliveryTo(`${receiver.url}/second`, { timeoutMs }))
  clock.stop(timeoutMs)
  await assert.rejects(second, isNone)
  await Promise.all([...receiver.open].map(socketClosed))
  const third = await courier.deliver(deliveryTo(`${receiver.url}/third`))
  assert.equal(third.verdict.result, 'success', third.verdict.message)
  assert.deepEqual(
    receiver.requests.all.map(({ path }) => path),
    ['/first', '/third'],
  )
})

const PROTOCOLS: [string, ReceiverOptions][] = [
  ['HTTP/1.1', {}],
  ['HTTP/2', { tls: certificate, http2: true }],
]

for (const [protocol, options] of PROTOCOLS) {
  test(`an attempt whose time was over when its connection stood is not sent and is none, over ${protocol}`, async (t) => {
    await using receiver = await startReceiver(options)
    const clock = new StoppingClock()
    const courier = new Courier({ clock, extraCa: [certificate.cert] })
    t.after(() => courier.close())
    await courier.preparing()
    const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs }))
    clock.stop(timeoutMs)
    await assert.rejects(delivery, isNone)
    await Promise.all([...receiver.open].map(socketClosed))
    assert.equal(receiver.requests.all.length, 0)
  })
}

test('a connection that came while the process stood still makes no attempt, though the timer has its turn first', async (t) => {
  await using receiver = await startReceiver()
  const clock = new StoppingClock()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  await courier.preparing()
  const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs }))
  clock.stop(timeoutMs)
  clock.goOn()
  await assert.rejects(delivery, isNone)
})

test('an answer that lay there when a stopped process went on counts, though its time was over', async (t) => {
  const answering = Promise.withResolvers<ServerResponse>()
  await using receiver = await startReceiver({
    answer: (_request, response) => {
      answering.resolve(response)
      return null
    },
  })
  const clock = new StoppingClock()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(receiver.url, { timeoutMs }))
  const response = await answering.promise
  clock.stop(timeoutMs)
  response.writeHead(200).end()
  clock.goOn()
  assert.equal((await delivery).verdict.result, 'success')
})
