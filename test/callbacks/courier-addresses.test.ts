import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { ResolvedAddress } from '../../src/platform/outbound/resolve-host.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { startLateReceiver } from '../support/receivers/late-receiver.ts'
import { startReceiver } from '../support/receivers/receiver.ts'

const clock = new SystemClock()
const DENIED = 'destination address not allowed'

function addresses(...texts: string[]): ResolvedAddress[] {
  return texts.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

/** Answers each question with the next list, the last one for good, and keeps what it was asked. */
function resolverOf(...answers: ResolvedAddress[][]) {
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? []
  }
  return { asked, resolve }
}

test('a name is resolved, its address is called, and the receiver sees the name', async (t) => {
  await using receiver = await startReceiver()
  const { asked, resolve } = resolverOf(addresses('127.0.0.1'))
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const delivery = await courier.deliver(deliveryTo(`http://Hooks.Example.org:${receiver.port}/in`))
  assert.equal(delivery.verdict.result, 'success')
  assert.equal(delivery.address, '127.0.0.1')
  assert.deepEqual(asked, ['hooks.example.org'])
  const request = await receiver.requests.next()
  assert.equal(request.headers.host, `hooks.example.org:${receiver.port}`)
})

test('every spelling of a denied address is refused before anything is sent', async (t) => {
  await using receiver = await startReceiver()
  const { asked, resolve } = resolverOf(addresses('127.0.0.1'))
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '0',
    '169.254.169.254',
    '[::1]',
    '[::]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '[fd00::1]',
  ]
  for (const host of hosts) {
    const url = `http://${host}:${receiver.port}/`
    const delivery = await courier.deliver(deliveryTo(url, { allowedCidrs: [] }))
    assert.equal(delivery.verdict.result, 'terminal', host)
    assert.ok(delivery.verdict.message.includes(DENIED), host)
    assert.equal(delivery.statusCode, null)
  }
  assert.deepEqual(asked, [])
  assert.equal(receiver.connections.all.length, 0)
})

test('an odd spelling of an allowed address reaches it', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  for (const host of ['2130706433', '0x7f.1', '0177.0.0.1']) {
    const { verdict, address } = await courier.deliver(deliveryTo(`http://${host}:${receiver.port}/`))
    assert.equal(verdict.result, 'success', host)
    assert.equal(address, '127.0.0.1')
  }
})

test('a name with one denied address among several is refused, whichever it is', async (t) => {
  await using receiver = await startReceiver()
  for (const list of [
    ['127.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1', 'fe80::1'],
    ['::ffff:10.0.0.1'],
    ['127.0.0.1', 'no address'],
  ]) {
    const courier = new Courier({ clock, resolve: resolverOf(addresses(...list)).resolve })
    t.after(() => courier.close())
    const delivery = await courier.deliver(deliveryTo(`http://hooks.example.org:${receiver.port}/`))
    assert.deepEqual(delivery, {
      verdict: { result: 'terminal', errorType: '', message: DENIED, label: 'unknown-error' },
      statusCode: null,
      snippet: '',
      address: null,
    })
  }
  assert.equal(receiver.connections.all.length, 0)
})

test('what a name meant when it was checked is what is called: it is not asked for again', async (t) => {
  await using receiver = await startReceiver()
  const { asked, resolve } = resolverOf(addresses('127.0.0.1'), addresses('10.0.0.1'))
  const time = new FakeClock()
  const courier = new Courier({ clock: time, resolve })
  t.after(() => courier.close())
  const url = `http://rebinding.example.org:${receiver.port}/`
  assert.equal((await courier.deliver(deliveryTo(url))).verdict.result, 'success')
  assert.equal(asked.length, 1)
  await time.advance(60_000)
  const second = await courier.deliver(deliveryTo(url))
  assert.equal(asked.length, 2)
  assert.equal(second.verdict.result, 'terminal')
  assert.equal(second.verdict.message, DENIED)
  assert.equal(receiver.requests.all.length, 1)
})

test('rules and ports are asked at each attempt, also where a connection is kept', async (t) => {
  await using receiver = await startReceiver()
  const courier = new Courier({ clock })
  t.after(() => courier.close())
  const request = deliveryTo(receiver.url)
  await courier.deliver(request)
  const { policy } = request
  const insecure = await courier.deliver({
    ...request,
    policy: { ...policy, rules: [{ pattern: '*', allow_insecure: false }] },
  })
  assert.equal(insecure.verdict.result, 'terminal')
  assert.match(insecure.verdict.message, /https only/)
  const unmatched = await courier.deliver({ ...request, policy: { ...policy, rules: [] } })
  assert.equal(unmatched.verdict.result, 'terminal')
  const port = await courier.deliver(deliveryTo(receiver.url, { deniedPorts: [receiver.port] }))
  assert.equal(port.verdict.result, 'terminal')
  assert.match(port.verdict.message, /port/)
  const credentials = await courier.deliver(deliveryTo(`http://user:secret@127.0.0.1:${receiver.port}/`))
  assert.equal(credentials.verdict.result, 'terminal')
  assert.ok(!credentials.verdict.message.includes('secret'))
  assert.equal(receiver.requests.all.length, 1)
})

test('where one address does not answer the next one is called', async (t) => {
  await using receiver = await startReceiver()
  // Nobody listens at the first one: the receiver is bound to the second alone.
  const { resolve } = resolverOf(addresses('127.0.0.2', '127.0.0.1'))
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const { verdict, address } = await courier.deliver(deliveryTo(`http://two.example.org:${receiver.port}/`))
  assert.equal(verdict.result, 'success')
  assert.equal(address, '127.0.0.1')
})

test('an address that is slow to answer is waited for though the name has another one, which does not answer', async (t) => {
  await using receiver = await startLateReceiver()
  const courier = new Courier({ clock, ...resolverOf(addresses('127.0.0.1', '::1')) })
  t.after(() => courier.close())
  const urls = ['http', 'https'].map((scheme) => `${scheme}://far.example.org:${receiver.port}/`)
  const [plain, secure] = await Promise.all(urls.map((url) => courier.deliver(deliveryTo(url))))
  assert.deepEqual([plain?.verdict.result, plain?.address], ['success', '127.0.0.1'])
  // It does not speak TLS, but it was reached.
  assert.deepEqual([secure?.verdict.label, secure?.address], ['unknown-error', '127.0.0.1'])
})

test('a burst of attempts asks once for a name', async (t) => {
  await using receiver = await startReceiver()
  const { asked, resolve } = resolverOf(addresses('127.0.0.1'))
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const url = `http://hooks.example.org:${receiver.port}/`
  await Promise.all(Array.from({ length: 30 }, () => courier.deliver(deliveryTo(url))))
  assert.equal(receiver.connections.all.length, 30)
  assert.equal(asked.length, 1)
})

test('attempts that wait for the first connection to a receiver fail with it, for the same reason', async (t) => {
  const { asked, resolve } = resolverOf(addresses('10.0.0.1'))
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const attempts = Array.from({ length: 20 }, () => courier.deliver(deliveryTo('https://hooks.example.org/')))
  for (const { verdict } of await Promise.all(attempts)) assert.equal(verdict.message, DENIED)
  assert.equal(asked.length, 1)
})

test('a name that cannot be resolved is worth another try', async (t) => {
  const resolve = async () => {
    throw Object.assign(new Error('queryA ENOTFOUND nowhere.example.org'), { code: 'ENOTFOUND' })
  }
  const courier = new Courier({ clock, resolve })
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo('http://nowhere.example.org/'))
  assert.equal(verdict.result, 'retryable')
  assert.equal(verdict.message, 'queryA ENOTFOUND nowhere.example.org')

  const empty = new Courier({ clock, resolve: async () => [] })
  t.after(() => empty.close())
  assert.equal((await empty.deliver(deliveryTo('http://nowhere.example.org/'))).verdict.result, 'retryable')
})

test('a name whose servers are silent costs the time of the attempt and no more', async (t) => {
  await using receiver = await startReceiver()
  const time = new FakeClock()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise, resolve: answer } = Promise.withResolvers<ResolvedAddress[]>()
  const courier = new Courier({
    clock: time,
    resolve() {
      ask()
      return promise
    },
  })
  t.after(() => courier.close())
  const delivery = courier.deliver(deliveryTo(`http://silent.example.org:${receiver.port}/`))
  await asked
  await time.advance(10_000)
  const { verdict } = await delivery
  assert.equal(verdict.label, 'request-timeout')
  assert.equal(verdict.result, 'retryable')
  answer(addresses('127.0.0.1'))
  await time.advance(1000)
  assert.equal(receiver.connections.all.length, 0)
})
