// Receivers that answer before they have read what is sent to them, as those do that refuse by the headers alone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { Courier } from '../../src/callbacks/destination/send/courier.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { createCertificate } from '../support/receivers/certificate.ts'
import { deliveryTo } from '../support/receivers/delivery-to.ts'
import { socketClosed } from '../support/receivers/receiver.ts'

const authority = createCertificate(['Test authority'])
const certificate = createCertificate(['127.0.0.1'], authority)
const LARGE = Buffer.alloc(2 * 1024 * 1024, 'x')

/** Speaks HTTP/2 and reads nothing by itself. */
async function startReceiver(onStream: (stream: ServerHttp2Stream) => void) {
  const server = createSecureServer(certificate)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})))
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    onStream(stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const courier = new Courier({ clock: new SystemClock(), extraCa: [authority.cert] })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    sockets,
    deliver: (body: Uint8Array) => courier.deliver(deliveryTo(url, { body })),
    async [Symbol.asyncDispose]() {
      await courier.close()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('many large requests over one HTTP/2 connection hear their answers while others are still being sent', async () => {
  const AT_A_TIME = 12
  const waiting: ServerHttp2Stream[] = []
  await using receiver = await startReceiver((stream) => {
    if (waiting.push(stream) < AT_A_TIME) return
    for (const each of waiting) {
      each.respond({ ':status': 200 })
      each.resume()
      each.once('end', () => each.end('read'))
    }
  })
  const deliveries = await Promise.all(Array.from({ length: AT_A_TIME }, () => receiver.deliver(LARGE)))
  for (const { verdict } of deliveries) assert.equal(verdict.result, 'success', verdict.message)
  assert.equal(receiver.sockets.length, 1)
})

test('an answer before the body was sent counts, and an HTTP/2 connection with such a body takes no other request', async () => {
  await using receiver = await startReceiver((stream) => {
    stream.respond({ ':status': 404, 'content-type': 'application/json' })
    stream.end('{"message":"unread"}', () => stream.close(constants.NGHTTP2_NO_ERROR))
  })
  for (let attempt = 0; attempt < 3; attempt++) {
    const { verdict, statusCode } = await receiver.deliver(LARGE)
    assert.deepEqual([statusCode, verdict.message], [404, 'handler error (NOT_FOUND): unread'])
  }
  assert.equal(receiver.sockets.length, 3)
  await Promise.all(receiver.sockets.map(socketClosed))
})

test('large requests that were read before they were answered go over one HTTP/2 connection', async () => {
  await using receiver = await startReceiver((stream) => {
    stream.resume().once('end', () => stream.respond({ ':status': 200 }, { endStream: true }))
  })
  for (let attempt = 0; attempt < 5; attempt++) {
    assert.equal((await receiver.deliver(LARGE)).verdict.result, 'success')
  }
  assert.equal(receiver.sockets.length, 1)
})

test('an answer before a small body was read leaves the HTTP/2 connection as it is', async () => {
  await using receiver = await startReceiver((stream) => stream.respond({ ':status': 404 }, { endStream: true }))
  for (let attempt = 0; attempt < 3; attempt++) {
    const { verdict } = await receiver.deliver(Buffer.from('small'))
    assert.equal(verdict.message, 'handler error (NOT_FOUND)')
  }
  assert.equal(receiver.sockets.length, 1)
})

test('an HTTP/1.1 connection that was answered before the request was sent takes no other one', async (t) => {
  const sockets: Socket[] = []
  // Reads nothing.
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const courier = new Courier({ clock: new SystemClock() })
  t.after(() => courier.close())
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  // More than the system takes from a sender whom nobody reads.
  const body = Buffer.alloc(32 * 1024 * 1024)
  for (const count of [1, 2]) {
    assert.equal((await courier.deliver(deliveryTo(url, { body }))).statusCode, 404)
    assert.equal(sockets.length, count)
  }
})
