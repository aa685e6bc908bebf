import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { compressionGzip, createConnectTransport } from '@connectrpc/connect-node'
import { ServerService, WhoAmIResponse_Kind } from '../../../src/gen/commonplace/server/v1/server_pb.js'
import { ProbeService } from './probe-service.ts'
import {
  ORGANIZATION_ID,
  PROTOCOLS,
  READER,
  type RpcServer,
  startRpcServer,
  transportOf,
  USER_ID,
  WRITER,
} from './rpc-server.ts'

describe('every protocol', () => {
  let server: RpcServer
  before(async () => {
    server = await startRpcServer(null)
  })
  after(() => server.stop())

  async function codeOf(call: Promise<unknown>): Promise<Code> {
    return call.then(
      () => assert.fail('the call succeeded'),
      (error) => ConnectError.from(error).code,
    )
  }

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: a public method needs no credentials`, async () => {
      const info = await createClient(ServerService, transportOf(server, protocol)).getServerInfo({})
      assert.equal(info.name, 'commonplace')
      assert.equal(info.version, '1.2.3')
      assert.deepEqual(info.surfaces, ['users', 'callbacks'])
      assert.deepEqual(info.services, [
        'commonplace.server.v1.ServerService',
        'grpc.health.v1.Health',
        'grpc.reflection.v1.ServerReflection',
        'grpc.reflection.v1alpha.ServerReflection',
        'probe.v1.ProbeService',
      ])
    })

    test(`${protocol}: credentials in headers say who is calling`, async () => {
      const client = createClient(ServerService, transportOf(server, protocol))
      const me = await client.whoAmI({}, { headers: { authorization: WRITER } })
      assert.equal(me.kind, WhoAmIResponse_Kind.USER)
      assert.equal(me.userId, USER_ID)
      assert.equal(me.organizationId, ORGANIZATION_ID)
      assert.deepEqual(me.permissions, ['callbacks_read', 'callbacks_write'])
      assert.equal(me.method, 'token')
      const byKeys = await client.whoAmI({}, { headers: { 'X-Api-Key': 'a', 'X-Application-Key': 'b' } })
      assert.equal(byKeys.method, 'key_pair')
    })

    test(`${protocol}: missing and bad credentials are UNAUTHENTICATED, a missing permission is PERMISSION_DENIED`, async () => {
      const client = createClient(ProbeService, transportOf(server, protocol))
      assert.equal(await codeOf(client.echo({ value: 'x' })), Code.Unauthenticated)
      assert.equal(
        await codeOf(client.echo({ value: 'x' }, { headers: { authorization: 'Bearer no' } })),
        Code.Unauthenticated,
      )
      assert.equal(
        await codeOf(client.echo({ value: 'x' }, { headers: { authorization: READER } })),
        Code.PermissionDenied,
      )
      assert.equal((await client.echo({ value: 'x' }, { headers: { authorization: WRITER } })).value, 'x')
      assert.equal((await client.echo({ value: 'x' }, { headers: { authorization: 'Bearer admin' } })).value, 'x')
    })

    test(`${protocol}: a stream carries every message in order`, async () => {
      const client = createClient(ProbeService, transportOf(server, protocol))
      const seen: string[] = []
      for await (const { value } of client.count({ value: '50' })) seen.push(value)
      assert.deepEqual(
        seen,
        Array.from({ length: 50 }, (_, n) => String(n + 1)),
      )
    })

    test(`${protocol}: large text of any language comes back unchanged`, async () => {
      const client = createClient(ProbeService, transportOf(server, protocol))
      const value = 'Grüße, 世界 🌍\n'.repeat(20_000)
      assert.equal((await client.open({ value })).value, value)
    })

    test(`${protocol}: the answer carries the request id and the call is counted`, async () => {
      const client = createClient(ProbeService, transportOf(server, protocol))
      let headers = new Headers()
      server.observed.length = 0
      function onHeader(received: Headers) {
        headers = received
      }
      await client.open({ value: 'x' }, { onHeader })
      const requestId = headers.get('x-request-id')
      assert.ok(requestId)
      assert.deepEqual(server.observed, [{ method: 'probe.v1.ProbeService/Open', code: 'ok' }])
      const line = server.lines.find((entry) => entry.msg === 'call' && entry.request === requestId)
      assert.equal(line?.method, 'probe.v1.ProbeService/Open')
      assert.equal(line?.code, 'ok')
    })

    test(`${protocol}: an unknown method of a served service is UNIMPLEMENTED`, async () => {
      const desc = {
        ...ProbeService.method.open,
        name: 'Vanished',
        localName: 'vanished',
      }
      const transport = transportOf(server, protocol)
      const call = transport.unary(desc, undefined, undefined, undefined, { value: 'x' }, undefined)
      assert.equal(await codeOf(call), Code.Unimplemented)
    })
  }

  test('gRPC: many messages go in and come out of one stream', async () => {
    const client = createClient(ProbeService, transportOf(server, 'grpc'))
    async function* words() {
      for (const value of ['a', 'b', 'c']) yield { value }
    }
    assert.equal((await client.join(words(), { headers: { authorization: READER } })).value, 'a+b+c')
    assert.equal(await codeOf(client.join(words())), Code.Unauthenticated)
    const seen: string[] = []
    for await (const { value } of client.chat(words())) seen.push(value)
    assert.deepEqual(seen, ['A', 'B', 'C'])
  })

  test('a compressed request is read and a large answer is compressed', async () => {
    const transport = createConnectTransport({
      baseUrl: server.baseUrl,
      httpVersion: '1.1',
      sendCompression: compressionGzip,
      compressMinBytes: 0,
    })
    const value = 'again and '.repeat(10_000)
    let headers = new Headers()
    function onHeader(received: Headers) {
      headers = received
    }
    const answer = await createClient(ProbeService, transport).open({ value }, { onHeader })
    assert.equal(answer.value, value)
    assert.equal(headers.get('content-encoding'), 'gzip')
  })

  test('plain JSON over HTTP is enough to call a method', async () => {
    const response = await fetch(`${server.baseUrl}/commonplace.server.v1.ServerService/WhoAmI`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: READER },
      body: '{}',
    })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('x-from-hook'), 'yes')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(await response.json(), {
      kind: 'KIND_USER',
      userId: USER_ID,
      organizationId: ORGANIZATION_ID,
      permissions: ['callbacks_read'],
      method: 'token',
    })
  })

  test('a method without side effects can be called with GET, another cannot', async () => {
    const query = new URLSearchParams({ connect: 'v1', encoding: 'json', message: '{}' })
    const info = await fetch(`${server.baseUrl}/commonplace.server.v1.ServerService/GetServerInfo?${query}`)
    assert.equal(info.status, 200)
    assert.equal(((await info.json()) as { version: string }).version, '1.2.3')
    const open = await fetch(`${server.baseUrl}/probe.v1.ProbeService/Open?${query}`)
    assert.notEqual(open.status, 200)
  })

  test('the session cookie counts for Connect on the main port, and only with the CSRF token', async () => {
    const headers = { cookie: 'session=good', 'x-csrf-token': 'csrf' }
    const connect = createClient(ServerService, transportOf(server, 'connect'))
    assert.equal((await connect.whoAmI({}, { headers })).method, 'cookie')
    await assert.rejects(connect.whoAmI({}, { headers: { cookie: 'session=good' } }), /unauthenticated.*X-CSRF-Token/)
    for (const protocol of ['grpc', 'grpc-web'] as const) {
      const client = createClient(ServerService, transportOf(server, protocol))
      assert.equal(await codeOf(client.whoAmI({}, { headers })), Code.Unauthenticated)
    }
  })

  test('permission is judged before the body is looked at', async () => {
    for (const [authorization, status] of [
      ['', 401],
      ['Bearer no', 401],
      [READER, 403],
      [WRITER, 400],
    ] as const) {
      const response = await fetch(`${server.baseUrl}/probe.v1.ProbeService/Echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) },
        body: 'this is not JSON',
      })
      assert.equal(response.status, status)
    }
  })
})
