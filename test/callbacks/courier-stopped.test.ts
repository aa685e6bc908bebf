// A process that stands still for a while, as when it is stopped or its machine is moved. When it goes on, sockets have their turn before timers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { type ReceiverOptions, socketClosed, startReceiver } from '../support/receivers/receiver.ts'

const certificate = createCertificate(['127.0.0.1'])

/** Once it stops, all that anybody waits for is over at once, and rings only when it goes on. */
class StoppingClock extends SystemClock {
  readonly #alarms = new Set<() => void>()
  #passedMs = 0
  isStopped = false

  override elapsedMs(): number {
    return super.elapsedMs() + this.#passedMs
  }

  override after(ms: number, callback: () => void): () => void {
    if (!this.isStopped) return super.after(ms, callback)
    this.#passedMs += ms
    this.#alarms.add(callback)
    return () => this.#alarms.delete(callback)
  }

  goOn(): void {
    this.isStopped = false
    for (const ring of this.#alarms) ring()
  }
}

const PROTOCOLS: [string, ReceiverOptions][] = [
  ['HTTP/1.1', {}],
  ['HTTP/2', { tls: certificate, http2: true }],
]

for (const [protocol, options] of PROTOCOLS) {
  test(`an attempt whose time was over before it was sent is not sent any more, over ${protocol}`, async (t) => {
    await using receiver = await startReceiver(options)
    const clock = new StoppingClock()
    const courier = new Courier({ clock, extraCa: [certificate.cert] })
    t.after(() => courier.close())
    const first = await courier.deliver(deliveryTo(`${receiver.url}/first`))
    assert.equal(first.verdict.result, 'success', first.verdict.message)
    clock.isStopped = true
    const second = courier.deliver(deliveryTo(`${receiver.url}/second`, { timeoutMs: 2_000 }))
    // The connection is there, and takes it within these.
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    clock.goOn()
    assert.equal((await second).verdict.message, 'the attempt took longer than 2000 ms')
    await Promise.all([...receiver.open].map(socketClosed))
    assert.deepEqual(
      receiver.requests.all.map(({ path }) => path),
      ['/first'],
    )
    const third = await courier.deliver(deliveryTo(`${receiver.url}/third`))
    assert.equal(third.verdict.result, 'success', third.verdict.message)
  })
}
