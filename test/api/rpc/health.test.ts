import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Code, type ConnectError, createClient } from '@connectrpc/connect'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../src/gen/grpc/health/v1/health_pb.js'
import { PROTOCOLS, startRpcServer, transportOf } from './rpc-server.ts'

test('health follows readiness, for the server and for each service', async (t) => {
  const server = await startRpcServer(t)
  for (const protocol of PROTOCOLS) {
    const client = createClient(Health, transportOf(server, protocol))
    server.readiness.become('serving')
    assert.equal((await client.check({})).status, Status.SERVING)
    assert.equal((await client.check({ service: 'probe.v1.ProbeService' })).status, Status.SERVING)
    server.readiness.become('not_serving')
    assert.equal((await client.check({})).status, Status.NOT_SERVING)
    assert.equal((await client.list({})).statuses['grpc.health.v1.Health']?.status, Status.NOT_SERVING)
    await assert.rejects(client.check({ service: 'nobody' }), (error: ConnectError) => error.code === Code.NotFound)
  }
})

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a watcher sees each change, is told about the stop and leaves nothing behind`, async (t) => {
    const server = await startRpcServer(t)
    const watch = createClient(Health, transportOf(server, protocol)).watch({})[Symbol.asyncIterator]()
    assert.equal((await watch.next()).value?.status, Status.SERVING)
    server.readiness.become('not_serving')
    assert.equal((await watch.next()).value?.status, Status.NOT_SERVING)
    server.readiness.become('serving')
    assert.equal((await watch.next()).value?.status, Status.SERVING)
    server.rpc.drain()
    assert.equal((await watch.next()).value?.status, Status.NOT_SERVING)
    await assert.rejects(watch.next(), (error: ConnectError) => error.code === Code.Unavailable)
    assert.equal(server.readiness.listeners.size, 0)
  })
}

test('a watcher of an unknown service is told so and stays connected', async (t) => {
  const server = await startRpcServer(t)
  const watch = createClient(Health, transportOf(server, 'grpc'))
    .watch({ service: 'later.v1.Service' })
    [Symbol.asyncIterator]()
  assert.equal((await watch.next()).value?.status, Status.SERVICE_UNKNOWN)
  const next = watch.next()
  server.readiness.become('not_serving')
  server.rpc.drain()
  await assert.rejects(next, (error: ConnectError) => error.code === Code.Unavailable)
})

test('a watcher that goes away is forgotten', async (t) => {
  const server = await startRpcServer(t)
  for (const protocol of PROTOCOLS) {
    const leave = new AbortController()
    const watch = createClient(Health, transportOf(server, protocol))
      .watch({}, { signal: leave.signal })
      [Symbol.asyncIterator]()
    await watch.next()
    assert.equal(server.readiness.listeners.size, 1)
    const gone = new Promise<void>((resolve) => {
      const remove = server.readiness.listeners.delete
      server.readiness.listeners.delete = (listener) => {
        server.readiness.listeners.delete = remove
        resolve()
        return remove.call(server.readiness.listeners, listener)
      }
    })
    leave.abort()
    await assert.rejects(watch.next())
    await gone
    assert.equal(server.readiness.listeners.size, 0)
  }
})
