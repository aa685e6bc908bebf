import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { Code, type ConnectError, createClient } from '@connectrpc/connect'
import { isAppError } from '../../../src/platform/errors/app-error.ts'
import { listenGrpc } from '../../../src/platform/rpc/listen-grpc.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { ProbeService, probeService } from './probe-service.ts'
import { rawSession } from './raw-grpc.ts'
import { PROTOCOLS, startRpcServer, transportOf } from './rpc-server.ts'

/** A service whose `open` answers when the test says so, and tells when it began and why it was aborted. */
function patientService() {
  const started = Promise.withResolvers<AbortSignal>()
  const release = Promise.withResolvers<void>()
  const service = probeService({
    open: {
      access: 'public',
      async handler({ value }, { signal }) {
        started.resolve(signal)
        await release.promise
        return { value }
      },
    },
  })
  return { service, started: started.promise, release: release.resolve }
}

function hasCode(code: Code) {
  return (error: ConnectError) => error.code === code
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: the deadline is kept even when the handler does not care`, async (t) => {
    const patient = patientService()
    const server = await startRpcServer(t, { services: [patient.service] })
    const client = createClient(ProbeService, transportOf(server, protocol))
    // As a header, so that only the server knows of it: the client would not wait for the answer.
    const headers = protocol.startsWith('grpc') ? { 'grpc-timeout': '50m' } : { 'connect-timeout-ms': '50' }
    let signal: AbortSignal | undefined
    void patient.started.then((started) => {
      signal = started
    })
    // On a busy machine it may be over before the work begins: then that one is asked again.
    while (signal === undefined) {
      await assert.rejects(client.open({ value: 'x' }, { headers }), hasCode(Code.DeadlineExceeded))
    }
    if (!signal.aborted) await once(signal, 'abort')
    assert.deepEqual(server.observed.at(-1), { method: 'probe.v1.ProbeService/Open', code: 'deadline_exceeded' })
  })

  test(`${protocol}: a deadline in the far future is no deadline in the past`, async (t) => {
    const server = await startRpcServer(t)
    const client = createClient(ProbeService, transportOf(server, protocol))
    const headers = protocol.startsWith('grpc')
      ? { 'grpc-timeout': '99999999H' }
      : { 'connect-timeout-ms': '9999999999' }
    assert.equal((await client.open({ value: 'x' }, { headers })).value, 'x')
  })

  test(`${protocol}: a caller who goes away aborts the work`, async (t) => {
    const patient = patientService()
    const server = await startRpcServer(t, { services: [patient.service] })
    const leave = new AbortController()
    const call = createClient(ProbeService, transportOf(server, protocol)).open(
      { value: 'x' },
      { signal: leave.signal },
    )
    const signal = await patient.started
    leave.abort()
    await assert.rejects(call, hasCode(Code.Canceled))
    if (!signal.aborted) await once(signal, 'abort')
    assert.deepEqual(server.observed.at(-1), { method: 'probe.v1.ProbeService/Open', code: 'canceled' })
  })
}

test('closing lets a call in flight finish and takes no new connection', async (t) => {
  const patient = patientService()
  const server = await startRpcServer(t, { services: [patient.service] })
  const call = createClient(ProbeService, transportOf(server, 'grpc')).open({ value: 'still here' })
  await patient.started
  const closed = server.listener.close(60_000)
  const late = connectTcp(server.listener.port, '127.0.0.1')
  await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
  patient.release()
  assert.equal((await call).value, 'still here')
  assert.equal(await closed, true)
})

test('closing without patience cuts off what does not end', async (t) => {
  const clock = new FakeClock()
  const patient = patientService()
  const server = await startRpcServer(t, { services: [patient.service], clock })
  const call = createClient(ProbeService, transportOf(server, 'grpc')).open({ value: 'x' })
  call.catch(() => undefined)
  const signal = await patient.started
  const closed = server.listener.close(5_000)
  await clock.advance(5_000)
  assert.equal(await closed, false)
  assert.equal(signal.aborted, true)
  await assert.rejects(call)
})

test('a connection without calls is closed after a while, with a word of goodbye', async (t) => {
  const clock = new FakeClock()
  const server = await startRpcServer(t, { clock, grpc: { keepaliveMs: 60_000, idleMs: 60_000 } })
  const session = rawSession(t, server.grpcUrl)
  await once(session, 'remoteSettings')
  const goodbye = once(session, 'goaway')
  await clock.advance(60_000)
  assert.equal((await goodbye)[0], 0)
})

test('a peer that no longer answers is noticed', async (t) => {
  const clock = new FakeClock()
  const { listener } = await startRpcServer(t, { clock, grpc: { keepaliveMs: 60_000, keepaliveTimeoutMs: 20_000 } })
  const socket = connectTcp(listener.port, '127.0.0.1')
  t.after(() => socket.destroy())
  // The preface and empty settings, and then nothing, not even an answer to a ping.
  socket.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]),
  )
  await once(socket, 'data')
  const closed = once(socket.resume(), 'close')
  await clock.advance(60_000)
  await clock.advance(20_000)
  await closed
})

test('a port that is taken is a sentence with the name of the setting', async (t) => {
  const server = await startRpcServer(t)
  await assert.rejects(
    listenGrpc(server.rpc, { host: '127.0.0.1', port: server.listener.port }),
    (error) => isAppError(error) && /gRPC port \d+ on 127\.0\.0\.1 is in use: .*server\.grpc_port/.test(error.message),
  )
})
