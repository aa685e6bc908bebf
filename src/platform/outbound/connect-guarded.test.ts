import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { buildConnector } from 'undici'
import { AddressRefused } from './address-refused.ts'
import { createGuardedConnect } from './connect-guarded.ts'
import { createIpFilter } from './ip-filter.ts'

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

/** Connects to a host of this machine, whatever the name servers say of it. */
async function connectTo(hostname: string, allowed: readonly string[], resolved: readonly string[] = []) {
  const connect = createGuardedConnect({
    buildConnector,
    resolve: async () => resolved.map((address) => ({ address, family: 4 })),
    filter: createIpFilter(allowed),
    secureContext: undefined,
  })
  const { promise, resolve } = Promise.withResolvers<Error | Socket>()
  const { port } = server.address() as AddressInfo
  connect({ hostname, protocol: 'http:', port: String(port) }, (...[error, socket]) => resolve(error ?? socket))
  return promise
}

test('a socket that stands to a denied address is closed before anything is written', async () => {
  const accepted = once(server, 'connection') as Promise<[Socket]>
  assert.ok((await connectTo('127.0.0.1', [])) instanceof AddressRefused)
  const [socket] = await accepted
  let bytes = 0
  socket.on('data', (data) => (bytes += data.length)).on('error', () => {})
  if (!socket.closed) await once(socket, 'close')
  assert.equal(bytes, 0)
})

test('a name is called at the addresses it has when all of them are allowed', async () => {
  const socket = await connectTo('name.example', ['127.0.0.0/8'], ['127.0.0.1'])
  assert.ok(!(socket instanceof Error))
  assert.equal(socket.remoteAddress, '127.0.0.1')
  socket.destroy()
  for (const addresses of [
    ['127.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
  ]) {
    assert.ok((await connectTo('name.example', ['127.0.0.0/8'], addresses)) instanceof AddressRefused, addresses.join())
  }
  const none = await connectTo('name.example', ['127.0.0.0/8'])
  assert.ok(none instanceof Error)
  assert.equal(none.message, 'name.example has no address')
})
