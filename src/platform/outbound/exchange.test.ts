import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Exchange } from './exchange.ts'
import { createIpFilter } from './ip-filter.ts'
import type { Exchanged } from './outbound-request.ts'

test('an answer that is enough and goes on keeps nothing of the request', async () => {
  const clock = new FakeClock()
  const bytes = new Uint8Array(100_000)
  const way = { url: new URL('http://127.0.0.1'), filter: createIpFilter([]) }
  const limits = { timeoutMs: 10_000, maxBodyBytes: 1_000, isSuccessEnough: true, waitedMs: 0 }
  const never = () => assert.fail()
  const owner = { sendAgain: never, withdraw: never, release: never }
  const context = { clock, draining: 0, closedBy: null }
  const answered = Promise.withResolvers<Exchanged>()
  const exchange = new Exchange({ ...way, ...limits, bytes, headBytes: 100 }, owner, context, answered)
  exchange.onResponseStart(null, 200, {})
  exchange.onResponseData(null, Buffer.from('x'))
  await clock.untilSet(250)
  await clock.advance(250)
  assert.equal((await answered.promise).answer?.status, 200)
  assert.deepEqual([exchange.hasLeft, exchange.request.bytes.byteLength], [false, 0])
})
