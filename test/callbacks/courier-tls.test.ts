import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { type ReceiverOptions, socketClosed, startReceiver } from '../support/receivers/receiver.ts'

const clock = new SystemClock()
const authority = createCertificate(['Test authority'])
const certificate = createCertificate(['hooks.example.org', '127.0.0.1'], authority)

function createCourier(time = clock as SystemClock | FakeClock): Courier {
  return new Courier({
    clock: time,
    extraCa: [authority.cert],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
}

function startSecure(options: ReceiverOptions = {}) {
  return startReceiver({ tls: certificate, ...options })
}

test('a name is called by HTTPS with its own name, whatever the address', async (t) => {
  await using receiver = await startSecure()
  const courier = createCourier()
  t.after(() => courier.close())
  const delivery = await courier.deliver(deliveryTo(`https://hooks.example.org:${receiver.port}/in`, { body: 'x' }))
  assert.equal(delivery.verdict.result, 'success', delivery.verdict.message)
  assert.equal(delivery.address, '127.0.0.1')
  const request = await receiver.requests.next()
  assert.equal(request.headers.host, `hooks.example.org:${receiver.port}`)
  assert.equal(request.httpVersion, '1.1')
  const tlsSocket = await receiver.secured.next()
  assert.equal(tlsSocket.servername, 'hooks.example.org')
})

test('an address is called by HTTPS when the certificate names it', async (t) => {
  await using receiver = await startSecure()
  const courier = createCourier()
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(receiver.url))
  assert.equal(verdict.result, 'success', verdict.message)
})

test('certificates that cannot be trusted are worth another try, and nothing is sent', async (t) => {
  const old = { ...certificate, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const cases: [string, ReceiverOptions['tls'], RegExp][] = [
    ['self-signed', createCertificate(['hooks.example.org']), /self-signed/],
    ['for another name', createCertificate(['other.example.org'], authority), /altnames|does not match/],
    [
      'by an unknown authority',
      createCertificate(['hooks.example.org'], createCertificate(['Other'])),
      /verify|issuer/,
    ],
    // Nothing of what OpenSSL puts around it: an address in our memory, a line of its sources.
    ['TLS 1.1', old, /^TLS: [a-z0-9 ]*(protocol|alert|version)[a-z0-9 ]*$/i],
    ['no TLS at all', undefined, /^TLS: wrong version number$/],
  ]
  for (const [name, tls, message] of cases) {
    for (const http2 of [false, true]) {
      await t.test(http2 ? `${name}, HTTP/2` : name, async () => {
        await using receiver = await startSecure({ tls, http2 })
        const courier = createCourier()
        const url = `https://hooks.example.org:${receiver.port}/`
        const deliveries = await Promise.all([0, 1, 2].map(() => courier.deliver(deliveryTo(url))))
        for (const { verdict, statusCode } of deliveries) {
          assert.equal(verdict.result, 'retryable')
          assert.match(verdict.message, message)
          assert.equal(statusCode, null)
        }
        assert.equal(receiver.requests.all.length, 0)
        await courier.close()
      })
    }
  }
})

test('certificates are checked whatever the environment says', async (t) => {
  await using receiver = await startSecure({ tls: createCertificate(['hooks.example.org']) })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.after(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  })
  const courier = createCourier()
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(`https://hooks.example.org:${receiver.port}/`))
  assert.equal(verdict.result, 'retryable')
})

test('plain HTTP where TLS is expected is worth another try', async (t) => {
  await using receiver = await startReceiver()
  const courier = createCourier()
  t.after(() => courier.close())
  const { verdict } = await courier.deliver(deliveryTo(`https://hooks.example.org:${receiver.port}/`))
  assert.equal(verdict.result, 'retryable')
  assert.notEqual(verdict.message, '')
})

test('a hundred attempts at a time share one HTTP/2 connection, also the first ones', async (t) => {
  await using receiver = await startSecure({ http2: true, answer: { status: 200, body: 'ok' } })
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/in?a`
  const headers = { 'x-text': Buffer.from('grüße').toString('latin1'), 'webhook-id': 'run' }
  for (let round = 0; round < 3; round++) {
    const deliveries = await Promise.all(
      Array.from({ length: 100 }, () => courier.deliver(deliveryTo(url, { headers, body: 'bytes' }))),
    )
    for (const { verdict, snippet, address } of deliveries) {
      assert.equal(verdict.result, 'success', verdict.message)
      assert.equal(snippet, 'ok')
      assert.equal(address, '127.0.0.1')
    }
  }
  assert.equal(receiver.connections.all.length, 1)
  const request = await receiver.requests.next()
  assert.equal(request.httpVersion, '2.0')
  assert.equal(request.method, 'POST')
  assert.equal(request.path, '/in?a')
  assert.equal(request.headers[':authority'], `hooks.example.org:${receiver.port}`)
  assert.equal(request.headers['content-length'], '5')
  assert.equal(Buffer.from(request.headers['x-text'] as string, 'latin1').toString(), 'grüße')
  assert.equal(request.body.toString(), 'bytes')
})

test('an idle HTTP/2 connection is closed', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const courier = new Courier({ clock, extraCa: [authority.cert], keepAliveMs: 1 })
  t.after(() => courier.close())
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
  await socketClosed(await receiver.connections.next())
  assert.equal((await courier.deliver(deliveryTo(receiver.url))).verdict.result, 'success')
})

test('headers cannot add lines over HTTP/2 either', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const hostile: Record<string, string>[] = [
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\0' },
    { ':path': '/other' },
    { 'x a': 'b' },
  ]
  for (const headers of hostile) {
    const { verdict } = await courier.deliver(deliveryTo(url, { headers }))
    assert.equal(verdict.result, 'retryable')
  }
  assert.equal(receiver.requests.all.length, 0)
  const headers = { Host: 'elsewhere.example.org', connection: 'close', te: 'x', 'content-length': '9' }
  assert.equal((await courier.deliver(deliveryTo(url, { headers, body: 'ab' }))).verdict.result, 'success')
  const request = await receiver.requests.next()
  assert.equal(request.headers[':authority'], `hooks.example.org:${receiver.port}`)
  assert.equal(request.headers['content-length'], '2')
  assert.equal(request.headers.host, undefined)
})

test('headers that HTTP/1.1 can carry arrive over HTTP/2 as well, whatever they are called and surrounded by', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const headers = Object.fromEntries([
    ['temporal-callback-token', ' t-1 '],
    ['x-tab', '\ta b\t'],
    ['x-blank', '  '],
    ['__proto__', 'p'],
    ['http2-settings', 'AAMAAABk'],
  ])
  const { verdict } = await courier.deliver(deliveryTo(url, { headers }))
  assert.equal(verdict.result, 'success', verdict.message)
  const request = await receiver.requests.next()
  assert.equal(request.httpVersion, '2.0')
  assert.equal(request.headers['temporal-callback-token'], 't-1')
  assert.equal(request.headers['x-tab'], 'a b')
  assert.equal(request.headers['x-blank'], '')
  assert.equal(Object.getOwnPropertyDescriptor(request.headers, '__proto__')?.value, 'p')
  assert.equal(request.headers['http2-settings'], undefined)
})

test('more than a hundred attempts at a time open a second HTTP/2 connection', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const deliveries = await Promise.all(Array.from({ length: 150 }, () => courier.deliver(deliveryTo(url))))
  assert.ok(deliveries.every(({ verdict }) => verdict.result === 'success'))
  assert.equal(receiver.connections.all.length, 2)
})

test('a receiver that takes few streams at a time gets no more on a connection', async (t) => {
  const current = new Map<number, number>()
  let most = 0
  await using receiver = await startSecure({
    http2: true,
    maxConcurrentStreams: 3,
    answer: ({ connection }, response) => {
      const streams = (current.get(connection) ?? 0) + 1
      current.set(connection, streams)
      most = Math.max(most, streams)
      setImmediate(() => {
        current.set(connection, (current.get(connection) ?? 0) - 1)
        response.end()
      })
      return null
    },
  })
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const deliveries = await Promise.all(Array.from({ length: 20 }, () => courier.deliver(deliveryTo(url))))
  assert.ok(deliveries.every(({ verdict }) => verdict.result === 'success'))
  assert.ok(most <= 3)
  assert.ok(receiver.connections.all.length <= 7)
})

test('a receiver that takes few streams and no second connection gets all, one after another', async (t) => {
  for (const more of ['closed', 'left unanswered']) {
    await t.test(`others are ${more}`, async () => {
      const http2 = createSecureServer({ ...certificate, settings: { maxConcurrentStreams: 2 } })
      http2.on('stream', (stream) => setImmediate(() => stream.respond({ ':status': 200 }, { endStream: true })))
      const sockets: Socket[] = []
      await using server = createServer((socket) => {
        if (sockets.push(socket.on('error', () => {})) === 1) http2.emit('connection', socket)
        else if (more === 'closed') socket.destroy()
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const url = `https://hooks.example.org:${(server.address() as AddressInfo).port}/`
      const time = new FakeClock()
      const courier = createCourier(time)
      const settled: string[] = []
      const deliveries = Array.from({ length: 20 }, async () => {
        settled.push((await courier.deliver(deliveryTo(url))).verdict.result)
        if (settled.filter((result) => result === 'success').length === 19) await time.advance(10_000)
      })
      await Promise.all(deliveries)
      // The one for which the second connection was opened learns what became of it.
      assert.deepEqual(settled.sort(), ['retryable', ...Array.from({ length: 19 }, () => 'success')])
      await courier.close()
      for (const socket of sockets) socket.destroy()
    })
  }
})

test('a hundred attempts by HTTPS without HTTP/2 have a connection each', async (t) => {
  await using receiver = await startSecure()
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const deliveries = await Promise.all(Array.from({ length: 20 }, () => courier.deliver(deliveryTo(url))))
  assert.ok(deliveries.every(({ verdict }) => verdict.result === 'success'))
  assert.equal(receiver.connections.all.length, 20)
})

test('statuses, interim answers, many headers and large bodies mean the same over HTTP/2', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const courier = createCourier()
  t.after(() => courier.close())
  const deliver = () => courier.deliver(deliveryTo(`https://hooks.example.org:${receiver.port}/`))
  receiver.script((_request, response) => {
    response.writeContinue()
    response.writeEarlyHints({ link: '</a>; rel=preload' })
    return { status: 503, headers: { 'retry-after': '2' }, body: 'later' }
  })
  const later = await deliver()
  assert.equal(later.statusCode, 503)
  assert.equal(later.verdict.retryAfterMs, 2000)
  assert.equal(later.snippet, 'later')
  receiver.script({ status: 418 })
  assert.equal((await deliver()).verdict.message, `unexpected response status: "418 I'm a Teapot"`)
  receiver.script({ status: 404, body: 'x'.repeat(70_000) })
  const large = await deliver()
  assert.equal(large.verdict.message, 'the answer is larger than 64 KiB')
  receiver.script({ status: 200, body: 'x'.repeat(70_000) })
  assert.equal((await deliver()).verdict.result, 'success')
  // Some are Node's own.
  const many = Array.from({ length: 250 }, (_, index): [string, string] => [`x-${index}`, 'a'])
  receiver.script({ status: 200, headers: Object.fromEntries(many) })
  assert.equal((await deliver()).verdict.result, 'success')
  receiver.script((_request, response) => {
    response.destroy()
    return null
  })
  const reset = await deliver()
  assert.equal(reset.verdict.result, 'retryable')
  assert.notEqual(reset.verdict.message, '')
  assert.equal((await deliver()).verdict.result, 'success')
})

test('an attempt over HTTP/2 that is given up disturbs no other, and its connection takes no new ones', async (t) => {
  await using receiver = await startSecure({ http2: true })
  const time = new FakeClock()
  const courier = createCourier(time)
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  let answer = () => {}
  receiver.script(null, (_request, response) => {
    answer = () => response.end('late')
    return null
  })
  const short = courier.deliver(deliveryTo(url, { timeoutMs: 1000 }))
  await receiver.requests.next()
  const long = courier.deliver(deliveryTo(url, { timeoutMs: 5000 }))
  await receiver.requests.next()
  await time.advance(1000)
  assert.equal((await short).verdict.label, 'request-timeout')
  assert.equal((await courier.deliver(deliveryTo(url))).verdict.result, 'success')
  answer()
  assert.equal((await long).snippet, 'late')
  assert.deepEqual(
    receiver.requests.all.map(({ connection }) => connection),
    [0, 0, 1],
  )
  await socketClosed(receiver.connections.all[0] as Socket)
})

test('a receiver that takes no streams at all costs the time of the attempt', async (t) => {
  await using receiver = await startSecure({ http2: true, maxConcurrentStreams: 0 })
  const time = new FakeClock()
  const courier = createCourier(time)
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${receiver.port}/`
  const deliveries = [0, 1, 2].map(() => courier.deliver(deliveryTo(url)))
  await receiver.secured.next()
  await time.advance(10_000)
  for (const { verdict } of await Promise.all(deliveries)) assert.equal(verdict.label, 'request-timeout')
  assert.equal(receiver.requests.all.length, 0)
})

test('a TLS handshake that never ends costs the time of the attempt, and the next in line tries again', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const time = new FakeClock()
  const courier = createCourier(time)
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${port}/`
  const short = courier.deliver(deliveryTo(url, { timeoutMs: 1000 }))
  const long = courier.deliver(deliveryTo(url, { timeoutMs: 2000 }))
  await once(server, 'connection')
  const connectedAgain = once(server, 'connection')
  await time.advance(1000)
  assert.equal((await short).verdict.label, 'request-timeout')
  assert.equal((await short).address, '127.0.0.1')
  await connectedAgain
  await socketClosed(sockets[0] as Socket)
  await time.advance(1000)
  assert.equal((await long).verdict.label, 'request-timeout')
  await socketClosed(sockets[1] as Socket)
  assert.equal(sockets.length, 2)
})

test('an attempt that waits for the first connection can be given up', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const courier = createCourier()
  t.after(() => courier.close())
  const url = `https://hooks.example.org:${port}/`
  const [first, second] = [new AbortController(), new AbortController()]
  const connecting = courier.deliver(deliveryTo(url, { signal: first.signal }))
  const waiting = courier.deliver(deliveryTo(url, { signal: second.signal }))
  const [socket] = (await once(server, 'connection')) as [Socket]
  second.abort(new Error('no more'))
  await assert.rejects(waiting, /no more/)
  first.abort(new Error('nor this'))
  await assert.rejects(connecting, /nor this/)
  await socketClosed(socket)
})
