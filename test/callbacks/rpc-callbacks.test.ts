/** The same operations over every RPC protocol, under the name that existing clients call and under ours. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { type CallOptions, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { CallbackService } from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { ServerService } from '../../src/gen/commonplace/server/v1/server_pb.js'
import { ErrorInfoSchema, RetryInfoSchema } from '../../src/gen/google/rpc/error_details_pb.js'
import { StatusSchema } from '../../src/gen/google/rpc/status_pb.js'
import { CallbackExecutionStatus } from '../../src/gen/temporal/api/enums/v1/callback_pb.js'
import { CallbackState } from '../../src/gen/temporal/api/enums/v1/common_pb.js'
import {
  CallbackExecutionAlreadyStartedFailureSchema,
  NamespaceNotFoundFailureSchema,
} from '../../src/gen/temporal/api/errordetails/v1/message_pb.js'
import {
  StartCallbackExecutionRequestSchema,
  StartCallbackExecutionResponseSchema,
} from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { WorkflowService } from '../../src/gen/temporal/api/workflowservice/v1/service_pb.js'
import { type Callers, openCallers } from '../support/callers.ts'
import { CallbacksApi } from './callbacks-api.ts'

const NAMESPACE = 'default'
const PLAIN = { encoding: new Uint8Array(Buffer.from('json/plain')) }

let callbacks: CallbacksApi
let callers: Callers
let authorized: CallOptions
before(async () => {
  callbacks = await CallbacksApi.start({
    mode: 'serve',
    env: {
      COMMONPLACE_CALLBACKS__ALLOWED_ADDRESSES: '[{"pattern":"*","allow_insecure":true}]',
      COMMONPLACE_CALLBACKS__ALLOWED_PRIVATE_CIDRS: '["127.0.0.0/8"]',
      COMMONPLACE_CALLBACKS__NAMESPACES: '{"none":{"max_open_long_polls":0},"early":{"long_poll":{"buffer":"29s"}}}',
    },
  })
  callers = await openCallers(callbacks.server)
  authorized = { headers: { authorization: `Bearer ${callbacks.server.adminToken}` } }
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await callbacks.stop()
})

function transports(): Record<string, Transport> {
  const { url: baseUrl, grpcUrl } = callbacks.server
  return {
    grpc: createGrpcTransport({ baseUrl: grpcUrl }),
    'grpc-web': createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
    connect: createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
    'connect with JSON': createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  }
}

const SERVICES = { WorkflowService, CallbackService: CallbackService as unknown as typeof WorkflowService }

function wish(
  callbackId: string,
  more: MessageInitShape<typeof StartCallbackExecutionRequestSchema> = {},
): MessageInitShape<typeof StartCallbackExecutionRequestSchema> {
  return {
    namespace: NAMESPACE,
    callbackId,
    identity: 'test',
    callback: { variant: { case: 'nexus', value: { url: callbacks.silent.url, token: 't-1', header: { A: 'b' } } } },
    input: {
      case: 'completion',
      value: { result: { case: 'success', value: { metadata: PLAIN, data: new Uint8Array(Buffer.from('{"a":1}')) } } },
    },
    ...more,
  } as MessageInitShape<typeof StartCallbackExecutionRequestSchema>
}

async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => assert.fail('the call succeeded'),
    (error: unknown) => ConnectError.from(error),
  )
}

describe('every operation', () => {
  for (const [protocol, service] of ['grpc', 'grpc-web', 'connect', 'connect with JSON'].flatMap((one) =>
    (['WorkflowService', 'CallbackService'] as const).map((name) => [one, name] as const),
  )) {
    test(`works over ${protocol} as a method of ${service}`, async () => {
      const client = createClient(SERVICES[service], transports()[protocol] as Transport)
      const callbackId = `${protocol}/${service}`
      const one = { namespace: NAMESPACE, callbackId }
      const { runId } = await client.startCallbackExecution(wish(callbackId, { requestId: 'r' }), authorized)
      const described = await client.describeCallbackExecution({ ...one, includeInput: true }, authorized)
      const { info, input, longPollToken } = described
      assert.deepEqual(
        [info?.runId, info?.status, info?.state, info?.stateTransitionCount],
        [runId, CallbackExecutionStatus.RUNNING, CallbackState.SCHEDULED, 1n],
      )
      assert.ok(info?.callback?.variant.case === 'nexus')
      const { token, header } = info.callback.variant.value
      assert.deepEqual([token, { ...header }], ['', { a: 'b' }])
      assert.ok(input?.result.case === 'success')
      assert.equal(Buffer.from(input.result.value.data).toString(), '{"a":1}')
      const changed = client.describeCallbackExecution({ ...one, runId, longPollToken }, authorized)
      const polled = client.pollCallbackExecution(one, authorized)
      await client.terminateCallbackExecution({ ...one, reason: 'enough', requestId: 't' }, authorized)
      assert.equal((await changed).info?.state, CallbackState.TERMINATED)
      const { outcome } = await polled
      assert.ok(outcome?.value.case === 'failure' && outcome.value.value.message === 'enough')
      await client.terminateCallbackExecution({ ...one, requestId: 't' }, authorized)
      const query = `CallbackId = "${callbackId}"`
      const { executions } = await client.listCallbackExecutions({ namespace: NAMESPACE, query }, authorized)
      assert.deepEqual(
        executions.map((listed) => [listed.runId, listed.status]),
        [[runId, CallbackExecutionStatus.TERMINATED]],
      )
      const grouped = { namespace: NAMESPACE, query: `${query} GROUP BY ExecutionStatus` }
      const { count, groups } = await client.countCallbackExecutions(grouped, authorized)
      assert.deepEqual([count, groups[0]?.count], [1n, 1n])
      assert.equal(Buffer.from(groups[0]?.groupValues[0]?.data ?? []).toString(), '"Terminated"')
      await client.deleteCallbackExecution(one, authorized)
      const gone = await refusal(client.describeCallbackExecution(one, authorized))
      assert.equal(gone.code, Code.NotFound)
    })
  }
})

describe('errors', () => {
  for (const protocol of ['grpc', 'grpc-web', 'connect', 'connect with JSON']) {
    test(`carry their details as messages over ${protocol}`, async () => {
      const client = createClient(WorkflowService, transports()[protocol] as Transport)
      const callbackId = `conflict ${protocol}`
      const { runId } = await client.startCallbackExecution(wish(callbackId, { requestId: 'r-1' }), authorized)
      const conflict = await refusal(client.startCallbackExecution(wish(callbackId, { requestId: 'r-2' }), authorized))
      assert.equal(conflict.code, Code.AlreadyExists)
      const [detail] = conflict.findDetails(CallbackExecutionAlreadyStartedFailureSchema)
      assert.deepEqual([detail?.startRequestId, detail?.runId], ['r-1', runId])
      const nowhere = await refusal(client.startCallbackExecution({ ...wish('x'), namespace: 'nowhere' }, authorized))
      assert.equal(nowhere.code, Code.NotFound)
      assert.equal(nowhere.findDetails(NamespaceNotFoundFailureSchema)[0]?.namespace, 'nowhere')
      for (const [call, code] of [
        [() => client.startCallbackExecution({ ...wish('x'), identity: '' }, authorized), Code.InvalidArgument],
        [() => client.startCallbackExecution(wish('x', { callback: {} }), authorized), Code.Unimplemented],
        [() => client.describeCallbackExecution({ namespace: NAMESPACE }, authorized), Code.InvalidArgument],
        [() => client.describeCallbackExecution({ namespace: NAMESPACE, callbackId: 'no' }, authorized), Code.NotFound],
        [() => client.listCallbackExecutions({ namespace: NAMESPACE, query: 'x' }, authorized), Code.InvalidArgument],
      ] as const) {
        const error = await refusal(call())
        assert.equal(error.code, code)
        assert.equal(error.findDetails(ErrorInfoSchema).length, 1)
      }
      await client.terminateCallbackExecution({ namespace: NAMESPACE, callbackId, requestId: 't-1' }, authorized)
      const again = await refusal(
        client.terminateCallbackExecution({ namespace: NAMESPACE, callbackId, requestId: 't-2' }, authorized),
      )
      assert.equal(again.code, Code.FailedPrecondition)
      assert.match(again.rawMessage, /t-1/)
    })
  }

  test('meet JSON with members that there are none of, such as a payload in short, over Connect', async () => {
    const { url, adminToken } = callbacks.server
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const connect = (method: string, body: object) =>
      fetch(`${url}/${WorkflowService.typeName}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const one = { namespace: NAMESPACE, callbackId: 'in short' }
    const callback = { nexus: { url: callbacks.silent.url } }
    const wished = { ...one, identity: 'test', callback, completion: { success: { paid: true } } }
    const refused = await connect('StartCallbackExecution', wished)
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /invalid_argument.*paid/)
    assert.equal((await connect('DescribeCallbackExecution', one)).status, 404)
  })

  test('that come from too many long polls say when to try again', async () => {
    const client = createClient(WorkflowService, transports().grpc as Transport)
    await client.startCallbackExecution({ ...wish('x'), namespace: 'none' }, authorized)
    const error = await refusal(client.pollCallbackExecution({ namespace: 'none', callbackId: 'x' }, authorized))
    assert.equal(error.code, Code.ResourceExhausted)
    assert.equal(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds, 1n)
  })
})

describe('access', () => {
  const reading = [
    'describeCallbackExecution',
    'pollCallbackExecution',
    'listCallbackExecutions',
    'countCallbackExecutions',
  ]
  const writing = ['startCallbackExecution', 'terminateCallbackExecution', 'deleteCallbackExecution']

  async function codesOf(name: keyof typeof SERVICES, headers: Record<string, string>, namespace: string) {
    const client = createClient(SERVICES[name], transports().connect as Transport) as unknown as Record<
      string,
      (request: object, options: CallOptions) => Promise<unknown>
    >
    const codes: Record<string, Code> = {}
    for (const method of [...reading, ...writing]) {
      const call = client[method] as (request: object, options: CallOptions) => Promise<unknown>
      codes[method] = (await refusal(call({ ...wish('nobody'), namespace }, { headers }))).code
    }
    return codes
  }

  const all = (code: Code, methods = [...reading, ...writing]) =>
    Object.fromEntries(methods.map((method) => [method, code]))

  test('is UNAUTHENTICATED without credentials and with bad ones, whatever is asked for', async () => {
    for (const name of ['WorkflowService', 'CallbackService'] as const) {
      for (const headers of [{}, { authorization: 'Bearer nonsense' }] as Record<string, string>[]) {
        for (const namespace of ['', NAMESPACE, 'nowhere']) {
          assert.deepEqual(await codesOf(name, headers, namespace), all(Code.Unauthenticated))
        }
      }
    }
  })

  test('is PERMISSION_DENIED without the permission, whether or not there is such a namespace', async () => {
    for (const name of ['WorkflowService', 'CallbackService'] as const) {
      for (const [scopes, expected] of [
        [['callbacks_read'], { ...all(Code.NotFound, reading), ...all(Code.PermissionDenied, writing) }],
        [['callbacks_write'], { ...all(Code.PermissionDenied, reading), ...all(Code.NotFound, writing) }],
        [['notes_read'], all(Code.PermissionDenied)],
      ] as const) {
        const { token } = await callers.make({ roles: ['admin'], scopes })
        const headers = { authorization: `Bearer ${token}` }
        assert.deepEqual(await codesOf(name, headers, 'nowhere'), expected)
      }
    }
  })
})

describe('grpc-js', () => {
  let client: Client
  before(() => {
    client = new Client(`127.0.0.1:${callbacks.server.grpcPort}`, credentials.createInsecure())
  })
  after(() => client.close())

  function unary<Request extends DescMessage, Response extends DescMessage>(
    method: string,
    [from, to]: [Request, Response],
    request: MessageInitShape<Request>,
    options: { deadline?: number } = {},
  ): Promise<MessageShape<Response>> {
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${callbacks.server.adminToken}`)
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/temporal.api.workflowservice.v1.WorkflowService/${method}`,
        (init: MessageInitShape<Request>) => Buffer.from(toBinary(from, create(from, init))),
        (bytes: Buffer) => fromBinary(to, bytes),
        request,
        metadata,
        options,
        (error, answer) => (error === null ? resolve(answer as MessageShape<Response>) : reject(error)),
      )
    })
  }

  const START: [typeof StartCallbackExecutionRequestSchema, typeof StartCallbackExecutionResponseSchema] = [
    StartCallbackExecutionRequestSchema,
    StartCallbackExecutionResponseSchema,
  ]

  test('starts an execution, and reads the details of a conflict', async () => {
    const { runId } = await unary('StartCallbackExecution', START, wish('grpc-js', { requestId: 'r-1' }))
    const error = await unary('StartCallbackExecution', START, wish('grpc-js')).then(
      () => assert.fail('the call succeeded'),
      (e: ServiceError) => e,
    )
    assert.equal(error.code, status.ALREADY_EXISTS)
    const [bytes] = error.metadata.get('grpc-status-details-bin')
    const [first] = fromBinary(StatusSchema, bytes as Buffer).details
    assert.ok(first)
    const detail = anyUnpack(first, CallbackExecutionAlreadyStartedFailureSchema)
    assert.deepEqual([detail?.startRequestId, detail?.runId], ['r-1', runId])
  })

  test('is told that other methods of that service are not offered', async () => {
    const error = await unary('GetSystemInfo', START, {}).catch((e: ServiceError) => e)
    assert.equal((error as ServiceError).code, status.UNIMPLEMENTED)
  })
})

test('a long poll answers the empty message before the deadline of its caller', async () => {
  const client = createClient(WorkflowService, transports().grpc as Transport)
  const one = { namespace: 'early', callbackId: 'impatient' }
  const { runId } = await client.startCallbackExecution({ ...wish('impatient'), ...one }, authorized)
  const { longPollToken } = await client.describeCallbackExecution(one, authorized)
  const options = { ...authorized, timeoutMs: 29_100 }
  const [polled, described] = await Promise.all([
    client.pollCallbackExecution(one, options),
    client.describeCallbackExecution({ ...one, runId, longPollToken }, options),
  ])
  assert.deepEqual([polled.runId, polled.outcome, described.info], ['', undefined, undefined])
})

/** A machine with much else to do may miss so short a deadline; not every time. */
async function inTime<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 9; ; tries--) {
    try {
      return await call()
    } catch (error) {
      if (tries === 0 || ConnectError.from(error).code !== Code.DeadlineExceeded) throw error
    }
  }
}

test('a long poll whose caller has a second answers the empty message, too, over every protocol', async () => {
  const one = { namespace: NAMESPACE, callbackId: 'hasty' }
  const clients = Object.values(transports()).map((transport) => createClient(WorkflowService, transport))
  const first = clients[0] as (typeof clients)[number]
  const { runId } = await first.startCallbackExecution(wish('hasty'), authorized)
  const { longPollToken } = await first.describeCallbackExecution(one, authorized)
  const options = { ...authorized, timeoutMs: 1_000 }
  for (const client of clients) {
    const { outcome } = await inTime(() => client.pollCallbackExecution(one, options))
    assert.equal(outcome, undefined)
    const described = { ...one, runId, longPollToken }
    const { info } = await inTime(() => client.describeCallbackExecution(described, options))
    assert.equal(info, undefined)
  }
})

test('a caller that cancels its long poll is let go', async () => {
  const client = createClient(WorkflowService, transports().grpc as Transport)
  await client.startCallbackExecution(wish('cancelled'), authorized)
  const controller = new AbortController()
  const polled = client.pollCallbackExecution(
    { namespace: NAMESPACE, callbackId: 'cancelled' },
    { ...authorized, signal: controller.signal },
  )
  controller.abort()
  assert.equal((await refusal(polled)).code, Code.Canceled)
})

test('a long poll is UNAUTHENTICATED when its token was revoked while it waited, over HTTP as over RPC', async () => {
  const client = createClient(WorkflowService, createGrpcTransport({ baseUrl: callbacks.server.grpcUrl }))
  const one = { namespace: NAMESPACE, callbackId: 'guarded' }
  await callbacks.startRunning('guarded')
  const guest = await callers.make({ permissions: ['callbacks_read', 'user_app_keys'] })
  const headers = { authorization: `Bearer ${guest.token}` }
  const polled = refusal(client.pollCallbackExecution(one, { headers }))
  const asked = guest.client.get(callbacks.at('guarded', '/outcome'), 401)
  // They were let in before: whoever asks later is answered.
  await client.describeCallbackExecution(one, { headers })
  await guest.client.get(callbacks.at('guarded'), 200)
  const [own] = (await guest.client.get('/api/v2/personal_access_tokens', 200)).body.data
  await guest.client.delete(`/api/v2/personal_access_tokens/${own.id}`, 204)
  await callbacks.terminate('guarded', { reason: 'secret' })
  assert.equal((await polled).code, Code.Unauthenticated)
  assert.doesNotMatch(JSON.stringify((await asked).body), /secret/)
})

test('a stop of the server answers long polls over gRPC with the empty message', async () => {
  const own = await CallbacksApi.start()
  await own.startRunning('waiting')
  const client = createClient(WorkflowService, createGrpcTransport({ baseUrl: own.server.grpcUrl }))
  const headers = { authorization: `Bearer ${own.server.adminToken}` }
  const one = { namespace: NAMESPACE, callbackId: 'waiting' }
  // The connection is made and the second call is heard after the first, on the same connection.
  await client.countCallbackExecutions({ namespace: NAMESPACE }, { headers })
  const polled = client.pollCallbackExecution(one, { headers })
  await client.countCallbackExecutions({ namespace: NAMESPACE }, { headers })
  const stopped = own.stop()
  const { runId, outcome } = await polled
  assert.deepEqual([runId, outcome], ['', undefined])
  await stopped
})

test('the server says that it has callbacks, and offers both services', async () => {
  const { surfaces, services } = await createClient(ServerService, transports().connect as Transport).getServerInfo({})
  assert.ok(surfaces.includes('callbacks'))
  assert.ok(services.includes('temporal.api.workflowservice.v1.WorkflowService'))
  assert.ok(services.includes('commonplace.callbacks.v1.CallbackService'))
})
