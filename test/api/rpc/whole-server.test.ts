/** The RPC surface as the composed server offers it: real credentials, real access rules, both ports. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Code, type ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { CallbackService } from '../../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { ServerService } from '../../../src/gen/commonplace/server/v1/server_pb.js'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../src/gen/grpc/health/v1/health_pb.js'
import { WorkflowService } from '../../../src/gen/temporal/api/workflowservice/v1/service_pb.js'
import { openCallers } from '../../support/callers.ts'
import { startServer, type TestServer } from '../../support/start-server.ts'
import { client } from '../../support/test-client.ts'

interface AuditShown {
  attributes: {
    target: { id: string }
    outcome: string
    changes: { reason: { new: string } }
    client_address: string
    request_id: string
  }
}

describe('the whole server', () => {
  let server: TestServer
  before(async () => {
    const env = { COMMONPLACE_SERVER__BODY_LIMIT: '100000', COMMONPLACE_SERVER__MAX_CONNECTIONS: '40' }
    server = await startServer({ mode: 'serve', env })
  })
  after(() => server.stop())

  function transports() {
    return {
      connect: createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' }),
      'grpc-web': createGrpcWebTransport({ baseUrl: server.url, httpVersion: '1.1' }),
      grpc: createGrpcTransport({ baseUrl: server.grpcUrl }),
    }
  }

  test('the same credentials count over every protocol', async () => {
    for (const [protocol, transport] of Object.entries(transports())) {
      const client = createClient(ServerService, transport)
      const byToken = await client.whoAmI({}, { headers: { authorization: `Bearer ${server.adminToken}` } })
      assert.equal(byToken.method, 'token', protocol)
      assert.ok(byToken.permissions.includes('admin'))
      for (const [api, application] of [
        ['dd-api-key', 'dd-application-key'],
        ['x-api-key', 'x-application-key'],
      ] as const) {
        const byKeys = await client.whoAmI(
          {},
          { headers: { [api]: server.apiKey, [application]: server.applicationKey } },
        )
        assert.equal(byKeys.method, 'key_pair', protocol)
        assert.equal(byKeys.userId, byToken.userId)
      }
      const refused = (error: ConnectError) => error.code === Code.Unauthenticated
      await assert.rejects(client.whoAmI({}), refused)
      await assert.rejects(client.whoAmI({}, { headers: { authorization: 'Bearer nonsense' } }), refused)
      await assert.rejects(client.whoAmI({}, { headers: { 'x-api-key': server.apiKey } }), refused)
    }
  })

  test('a method of HTTP that a call cannot have is 405, with those that it can', async () => {
    const api = client(server)
    const starts = '/temporal.api.workflowservice.v1.WorkflowService/StartCallbackExecution'
    const wrong = await api.get(starts, 405)
    assert.deepEqual([wrong.body, wrong.headers.get('allow')], [{ error: 'Method not allowed' }, 'POST, OPTIONS'])
    const info = '/commonplace.server.v1.ServerService/GetServerInfo'
    assert.equal((await api.put(info, 405)).headers.get('allow'), 'POST, GET, OPTIONS')
    assert.equal((await api.call('OPTIONS', info, 204)).headers.get('allow'), 'POST, GET, OPTIONS')
    await api.get('/commonplace.server.v1.ServerService/Nothing', 404)
  })

  test('whoever is refused is in the audit log, over every protocol as over HTTP', async () => {
    await using callers = await openCallers(server)
    const { userId, token, client: caller } = await callers.make({ permissions: [] })
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'refused' }
    const denied = (error: ConnectError) => error.code === Code.PermissionDenied
    const { connect, 'grpc-web': grpcWeb, grpc } = transports()
    const namespace = 'default'
    await assert.rejects(
      createClient(WorkflowService, connect).countCallbackExecutions({ namespace }, { headers }),
      denied,
    )
    await assert.rejects(
      createClient(WorkflowService, grpcWeb).listCallbackExecutions({ namespace }, { headers }),
      denied,
    )
    await assert.rejects(createClient(CallbackService, grpc).listDestinations({ namespace }, { headers }), denied)
    await caller.get('/namespaces/default/callbacks', 403, { headers: { 'x-request-id': 'refused' } })
    const admin = client(server)
    // What is written after the denials comes after them.
    await admin.post('/api/v2/roles', 200, { body: { data: { type: 'roles', attributes: { name: 'Later' } } } })
    const filter = new URLSearchParams({ 'filter[actor]': userId, 'filter[action]': 'access.denied' })
    const { data } = (await admin.get(`/api/v2/audit/events?${filter}`, 200)).body
    const traces = data.map(({ attributes: { target, outcome, changes, client_address, request_id } }: AuditShown) => [
      target.id,
      [outcome, changes.reason.new, client_address, request_id],
    ])
    const trace = ['failure', 'Missing permission: callbacks_read', '127.0.0.1', 'refused']
    assert.deepEqual(Object.fromEntries(traces), {
      'temporal.api.workflowservice.v1.WorkflowService/CountCallbackExecutions': trace,
      'temporal.api.workflowservice.v1.WorkflowService/ListCallbackExecutions': trace,
      'commonplace.callbacks.v1.CallbackService/ListDestinations': trace,
      ListCallbackExecutions: trace,
    })
  })

  test('no protocol takes a message that is larger than server.body_limit', async () => {
    const headers = { authorization: `Bearer ${server.adminToken}` }
    for (const [protocol, transport] of Object.entries(transports())) {
      const callbacks = createClient(CallbackService, transport)
      const sent = callbacks.createNamespace({ name: '', description: 'x'.repeat(100_000) }, { headers })
      await assert.rejects(sent, (error: ConnectError) => error.code === Code.ResourceExhausted, protocol)
      const health = createClient(Health, transport).check({ service: 'x'.repeat(20_000) })
      await assert.rejects(health, (error: ConnectError) => error.code === Code.ResourceExhausted, 'it allows less')
    }
  })

  test('the port of gRPC closes connections beyond server.max_connections, not those before them', async () => {
    const sockets = Array.from({ length: 41 }, () => connect(server.grpcPort, '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    await Promise.any(sockets.map((socket) => once(socket, 'close')))
    assert.equal(sockets[0]?.closed, false)
    for (const socket of sockets) socket.destroy()
    // Until the server has noticed that they are gone it takes no others, those of the next test among them.
    const health = createClient(Health, transports().grpc)
    while ((await health.check({}).catch(() => null)) === null);
  })

  test('says which surfaces it has', async () => {
    const { surfaces } = await createClient(ServerService, transports().grpc).getServerInfo({})
    assert.deepEqual([...surfaces].sort(), ['callbacks', 'instance', 'knowledge', 'users'])
  })

  test('health is public and says SERVING', async () => {
    for (const transport of Object.values(transports())) {
      assert.equal((await createClient(Health, transport).check({})).status, Status.SERVING)
    }
  })

  test('an RPC over HTTP has the headers of every other response, once', async () => {
    const response = await fetch(`${server.url}/commonplace.server.v1.ServerService/GetServerInfo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'my-own-id' },
      body: '{}',
    })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('x-request-id'), 'my-own-id')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(((await response.json()) as { name: string }).name, 'commonplace')
  })

  test('a service that is not there is a plain 404 of the main port', async () => {
    const response = await fetch(`${server.url}/no.such.v1.Service/Method`, { method: 'POST', body: '{}' })
    assert.equal(response.status, 404)
  })
})

test('behind a trusted proxy the audit log names the caller, over every protocol as over HTTP', async () => {
  await using server = await startServer({
    mode: 'serve',
    env: { COMMONPLACE_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]' },
  })
  const forwarded = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' }
  const headers = { ...forwarded, authorization: `Bearer ${server.adminToken}` }
  for (const [name, transport] of [
    ['connect', createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' })],
    ['grpc-web', createGrpcWebTransport({ baseUrl: server.url, httpVersion: '1.1' })],
    ['grpc', createGrpcTransport({ baseUrl: server.grpcUrl })],
  ] as const) {
    await createClient(CallbackService, transport).createNamespace({ name }, { headers })
  }
  const admin = client(server)
  await admin.post('/namespaces', 200, { body: { name: 'http' }, headers: forwarded })
  const { data } = (await admin.get('/api/v2/audit/events?filter[action]=namespace.created', 200)).body
  const addresses = data.map(({ attributes }: AuditShown) => attributes.client_address)
  assert.deepEqual(
    addresses,
    Array.from({ length: 4 }, () => '203.0.113.9'),
  )
})
