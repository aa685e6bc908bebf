import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { checkPorts } from '../../src/cli/doctor-machine.ts'
import { listenFailure } from '../../src/platform/http/connection/listen-failure.ts'
import type { Settings } from '../../src/settings.ts'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'

async function takePort() {
  const stranger = createServer().listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = stranger.address() as { port: number }
  return { port: String(port), [Symbol.dispose]: () => void stranger.close() }
}

test('a port that is taken ends the start with one sentence, before anything was delivered', async () => {
  using taken = await takePort()
  await using receiver = await startReceiver({ answer: null })
  const { dataDir } = await leaveOneDue(receiver)
  const env = { COMMONPLACE_SERVER__METRICS_PORT: taken.port }
  await assert.rejects(startServer({ dataDir, env }), ({ message }: Error) => {
    assert.match(message, /ended with status 1 /)
    assert.match(
      message,
      /metrics port \d+ on 127\.0\.0\.1 is in use: .*server\.metrics_port \(COMMONPLACE_SERVER__METRICS_PORT\)/,
    )
    assert.doesNotMatch(message, /^\s+at /m)
    return true
  })
  assert.equal(receiver.requests.all.length, 1)
  await using _server = await startServer({ dataDir })
  await receiver.requests.next()
})

/** A server that was killed while it delivered: the next one delivers at once. */
async function leaveOneDue(receiver: Receiver) {
  const server = await startServer()
  const body = { identity: 'test', callback: { nexus: { url: receiver.url } }, completion: { success: 'done' } }
  await client(server).post('/namespaces/default/callbacks/c-1', 200, { body })
  await receiver.requests.next()
  await server.kill()
  return server
}

test('a port that only an administrator of the machine may open, and a strange address, are whole sentences', () => {
  const place = {
    host: '192.0.2.1',
    port: 80,
    what: 'The gRPC port',
    setting: 'server.grpc_port',
    variable: 'VARIABLE',
  }
  const sentence = (code: string) => (listenFailure(Object.assign(new Error(code), { code }), place) as Error).message
  assert.equal(
    sentence('EACCES'),
    'The gRPC port 80 may not be used by this user: set server.grpc_port (VARIABLE) to one above 1023',
  )
  for (const code of ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EAFNOSUPPORT', 'EINVAL'])
    assert.equal(sentence(code), '192.0.2.1 is no address of this machine: set server.host (COMMONPLACE_HOST)')
  assert.equal(sentence('EMFILE'), 'EMFILE')
})

test('doctor sees a strange address also where any free port will do', async () => {
  const server = { host: '192.0.2.1', port: 0, grpc_port: 0, metrics_port: null } as Settings['server']
  const [finding] = await checkPorts(server)
  assert.equal(finding?.message, '192.0.2.1 is no address of this machine')
})
