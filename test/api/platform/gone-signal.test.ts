import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { closedSignal, goneSignal } from '../../../src/platform/http/answer/gone-signal.ts'

const ASK = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

/** A server that leaves answering to the test, as ours does with connections that their callers ended. */
async function world() {
  const server = createServer()
  Object.assign(server, { httpAllowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  const asked = async (): Promise<ServerResponse> => {
    const request = once(server, 'request')
    socket.write(ASK)
    return (await request)[1]
  }
  return { socket, asked, [Symbol.asyncDispose]: () => closed(server, socket) }
}

async function closed(server: ReturnType<typeof createServer>, socket: Socket): Promise<void> {
  socket.destroy()
  server.closeAllConnections()
  server.close()
}

test('a caller who ends its side of the connection has gone, and can still be answered', async () => {
  await using opened = await world()
  const response = await opened.asked()
  const signal = goneSignal(response)
  assert.equal(signal.aborted, false)
  const gone = once(signal, 'abort')
  opened.socket.end()
  await gone
  assert.equal(response.destroyed, false)
  response.end('done')
  assert.match(Buffer.concat(await opened.socket.toArray()).toString(), /done$/)
  assert.equal(goneSignal(response).aborted, true)
})

test('an answered caller leaves nothing on a connection that goes on', async () => {
  await using opened = await world()
  let before = -1
  for (let round = 0; round < 3; round++) {
    const response = await opened.asked()
    const connection = response.socket as Socket
    if (before < 0) before = connection.listenerCount('end')
    const signal = goneSignal(response)
    const answered = once(response, 'close')
    response.end()
    await answered
    assert.equal(signal.aborted, true)
    assert.equal(connection.listenerCount('end'), before)
  }
})

test('a caller who ends its side of the connection is worked for until it was answered or the connection is gone', async () => {
  await using opened = await world()
  const response = await opened.asked()
  const signal = closedSignal(response)
  const ended = once(response.socket as Socket, 'end')
  opened.socket.end()
  await ended
  assert.equal(signal.aborted, false)
  const closing = once(signal, 'abort')
  response.end('done')
  await closing
  assert.match(String(signal.reason), /went away/)

  await using another = await world()
  const gone = once(closedSignal(await another.asked()), 'abort')
  another.socket.resetAndDestroy()
  await gone
})
