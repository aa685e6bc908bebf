import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Exchange } from './exchange.ts'
import { createIpFilter } from './ip-filter.ts'
import type { Exchanged } from './outbound-request.ts'

function begin(draining = 0) {
  const clock = new FakeClock()
  const bytes = new Uint8Array(100_000)
  const way = { url: new URL('http://127.0.0.1'), filter: createIpFilter([]) }
  const limits = { timeoutMs: 10_000, maxBodyBytes: 1_000, isSuccessEnough: true, waitedMs: 0 }
  const never = () => assert.fail()
  const owner = { sendAgain: never, withdraw: (given: Exchange) => given.leave(true), release: never }
  const context = { clock, draining, closedBy: null }
  const answered = Promise.withResolvers<Exchanged>()
  const exchange = new Exchange({ ...way, ...limits, bytes, headBytes: 100 }, owner, context, answered)
  return { exchange, clock, context, answered: answered.promise }
}

test('an answer that is enough and goes on keeps nothing of the request', async () => {
  const { exchange, clock, answered } = begin()
  exchange.onResponseStart(null, 200, {})
  exchange.onResponseData(null, Buffer.from('x'))
  await clock.untilSet(250)
  await clock.advance(250)
  assert.equal((await answered).answer?.status, 200)
  assert.deepEqual([exchange.hasLeft, exchange.request.bytes.byteLength], [false, 0])
})

test('what is given up when the receiver has said yes is a success: it would be sent again', async () => {
  const { exchange, answered } = begin()
  exchange.onResponseStart(null, 200, {})
  exchange.abort(new Error('stopping'))
  assert.equal((await answered).answer?.status, 200)
  assert.equal(exchange.hasLeft, true)
})

test('only so many receivers at a time may go on with an answer that is enough', async () => {
  for (const [draining, isLeft] of [
    [255, true],
    [256, false],
  ] as const) {
    const { exchange, clock, context, answered } = begin(draining)
    exchange.onResponseStart(null, 200, {})
    await clock.untilSet(250)
    await clock.advance(250)
    assert.equal((await answered).answer?.status, 200)
    assert.deepEqual([exchange.hasLeft, context.draining], [!isLeft, 256])
    exchange.onResponseEnd()
    assert.equal(context.draining, draining)
  }
})
