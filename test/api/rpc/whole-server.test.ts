/** The RPC surface as the composed server offers it: real credentials, real access rules, both ports. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Code, type ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { ServerService } from '../../../src/gen/commonplace/server/v1/server_pb.js'
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../src/gen/grpc/health/v1/health_pb.js'
import { startServer, type TestServer } from '../../support/start-server.ts'

describe('the whole server', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'serve' })
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
