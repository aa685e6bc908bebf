import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import fastify from 'fastify'
import type { ChunkWriter } from '../../src/knowledge/snapshot/snapshot-stream.ts'
import { SnapshotStreams } from '../../src/knowledge/snapshot/snapshot-streams.ts'
import type { Authenticator } from '../../src/platform/auth/authenticator.ts'
import type { Principal } from '../../src/platform/auth/principal.ts'
import { sendHook } from '../../src/platform/http/answer/send-hook.ts'
import type { AnyOperation } from '../../src/platform/http/operation-options.ts'
import type { HttpPlatform } from '../../src/platform/http/platform.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'

const PIECE = JSON.stringify('x'.repeat(100_000))

eachDatabase('long answers over HTTP', ({ open }) => {
  for (const coding of ['identity', 'gzip', 'br']) {
    test(`end when the caller goes away, sent as ${coding}`, async () => {
      const { streams, get } = await serve(await open(), endless)
      const socket = get(coding)
      await once(socket, 'data')
      assert.equal(streams.slots.open, 1)
      socket.destroy()
      await released(streams)
    })
  }

  test('end when the caller stops reading, and the caller sees that it has not all', async () => {
    const { streams, clock, get } = await serve(await open(), endless)
    const socket = get('identity')
    await once(socket, 'data')
    socket.pause()
    // Nothing but the idle time is waited for, once every buffer on the way is full.
    while (streams.slots.open > 0) {
      await clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    let last = ''
    socket.on('data', (data: Buffer) => {
      last = data.toString('latin1').slice(-5)
    })
    socket.resume()
    await once(socket, 'close')
    assert.notEqual(last, '0\r\n\r\n')
  })

  test('break off when the right to them is gone', async () => {
    const { streams, authenticator, get } = await serve(await open(), endless)
    const socket = get('identity')
    await once(socket, 'data')
    authenticator.authenticate = async () => ({ kind: 'bad' })
    socket.resume()
    await once(socket, 'close')
    await released(streams)
  })

  test('that fail before anything was sent are an error', async () => {
    const { streams, url } = await serve(await open(), async function* () {
      yield ''
      throw new Error('a defect')
    })
    const response = await fetch(url)
    assert.equal(response.status, 500)
    await response.body?.cancel()
    await released(streams)
  })
})

const endless: ChunkWriter = async function* endless() {
  for (;;) yield PIECE
}

async function serve(db: ConstructorParameters<typeof SnapshotStreams>[0], write: ChunkWriter) {
  const clock = new FakeClock()
  const streams = new SnapshotStreams(db, clock)
  const server = fastify({ forceCloseConnections: true })
  const onSend = sendHook({ surface: 'knowledge', etag: false })
  const principal = { userId: 'ann', permissions: new Set() } as unknown as Principal
  const authenticator: Authenticator = { authenticate: async () => ({ kind: 'ok', principal }) }
  server.decorate('platform', { authenticator, origin: () => '' } as HttpPlatform)
  const config = { operation: { access: 'signed_in' } as AnyOperation }
  server.get('/', { onSend, config }, (request, reply) => {
    request.principal = principal
    return streams.send(request, reply, write)
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  after(() => server.close())
  const { port } = server.server.address() as AddressInfo
  function get(coding: string): Socket {
    const socket = connect(port, '127.0.0.1')
    // A caller that is cut off in the middle of an answer may see a reset.
    socket.on('error', () => {})
    socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\naccept-encoding: ${coding}\r\n\r\n`)
    return socket
  }
  return { streams, clock, authenticator, get, url: `http://127.0.0.1:${port}/` }
}

async function released(streams: SnapshotStreams): Promise<void> {
  while (streams.slots.open > 0) await new Promise((resolve) => setImmediate(resolve))
}
