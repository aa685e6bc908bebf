/** Small messages of very many elements are refused before anything is made of them, in every form and protocol. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { create, type MessageInitShape, toBinary, toJsonString } from '@bufbuild/protobuf'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node'
import { StartCallbackExecutionRequestSchema } from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { WorkflowService } from '../../src/gen/temporal/api/workflowservice/v1/service_pb.js'
import { MAX_ELEMENTS } from '../../src/platform/rpc/count-elements.ts'
import { assertSays, CallbacksApi, errorOf } from './callbacks-api.ts'

const MANY = MAX_ELEMENTS + 1
const BINARY = 'application/x-protobuf'

type Request = MessageInitShape<typeof StartCallbackExecutionRequestSchema>

let callbacks: CallbacksApi
before(async () => {
  callbacks = await CallbacksApi.start()
})
after(() => callbacks.stop())

function wish(callbackId: string, more: Request): Request {
  const value = { url: callbacks.silent.url }
  return {
    namespace: 'default',
    callbackId,
    identity: 'test',
    callback: { variant: { case: 'nexus', value } },
    input: { case: 'completion', value: { result: { case: 'success', value: {} } } },
    ...more,
  } as Request
}

function metadataOf(keys: number): Record<string, Uint8Array> {
  return Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, new Uint8Array(1)]))
}

function success(value: {
  data?: Uint8Array
  metadata?: Record<string, Uint8Array>
  externalPayloads?: object[]
}): Request {
  return { input: { case: 'completion', value: { result: { case: 'success', value } } } }
}

function details(count: number): Request {
  const payloads = Array.from({ length: count }, () => ({}))
  const failureInfo = { case: 'applicationFailureInfo', value: { details: { payloads } } } as const
  return { input: { case: 'completion', value: { result: { case: 'failure', value: { failureInfo } } } } }
}

function linked(count: number): Request {
  const value = { url: callbacks.silent.url }
  return { callback: { variant: { case: 'nexus', value }, links: Array.from({ length: count }, () => ({})) } }
}

function attributes(count: number): Request {
  return {
    searchAttributes: { indexedFields: Object.fromEntries(Array.from({ length: count }, (_, n) => [`A${n}`, {}])) },
  }
}

const TOO_MANY: [string, () => Request][] = [
  ['metadata', () => success({ metadata: metadataOf(MANY) })],
  [
    'external payloads',
    () => success({ data: new Uint8Array(1), externalPayloads: Array.from({ length: MANY }, () => ({})) }),
  ],
  ['details', () => details(MANY)],
  ['links', () => linked(MANY)],
  ['search attributes', () => attributes(MANY)],
]

describe('a message of too many elements is INVALID_ARGUMENT', () => {
  for (const [what, more] of TOO_MANY) {
    test(`over HTTP, in JSON and in binary form: ${what}`, async () => {
      const message = create(StartCallbackExecutionRequestSchema, wish('ignored', more()))
      const json = JSON.parse(toJsonString(StartCallbackExecutionRequestSchema, message))
      assertSays(await callbacks.refusal('many', json), 'elements', '10,000')
      const response = await fetch(`${callbacks.server.url}${callbacks.at('many')}`, {
        method: 'POST',
        headers: { 'content-type': BINARY, authorization: `Bearer ${callbacks.server.adminToken}` },
        body: toBinary(StartCallbackExecutionRequestSchema, message) as Uint8Array<ArrayBuffer>,
      })
      assert.equal(response.status, 400)
      assert.match(((await response.json()) as { message: string }).message, /more than 10,000 elements/)
      errorOf(await callbacks.api.get(callbacks.at('many'), 404))
    })
  }

  const forms = ['grpc', 'grpc with JSON', 'grpc-web', 'connect', 'connect with JSON'] as const
  for (const form of forms) {
    test(`over ${form}, compressed or not`, async () => {
      for (const sendCompression of [undefined, compressionGzip, compressionBrotli]) {
        const common = { sendCompression, compressMinBytes: 1, useBinaryFormat: !form.endsWith('JSON') }
        const main = { ...common, baseUrl: callbacks.server.url, httpVersion: '1.1' as const }
        const transport = form.startsWith('grpc-web')
          ? createGrpcWebTransport(main)
          : form.startsWith('grpc')
            ? createGrpcTransport({ ...common, baseUrl: callbacks.server.grpcUrl })
            : createConnectTransport(main)
        const client = createClient(WorkflowService, transport)
        const headers = { authorization: `Bearer ${callbacks.server.adminToken}` }
        for (const [what, more] of TOO_MANY) {
          await assert.rejects(
            () => client.startCallbackExecution(wish(what, more()), { headers }),
            (error) => {
              assert.ok(error instanceof ConnectError)
              assert.equal(error.code, Code.InvalidArgument, error.message)
              assert.match(error.rawMessage, /more than 10,000 elements/)
              return true
            },
          )
        }
        const few = wish(`few ${form} ${sendCompression?.name}`, success({ metadata: metadataOf(1_000) }))
        assert.ok((await client.startCallbackExecution(few, { headers })).runId)
      }
    })
  }

  test('but not when the elements are those of one payload', async () => {
    const points = Array.from({ length: 100_000 }, (_, n) => n)
    await callbacks.startRunning('points', { completion: { success: { points } } })
    assert.deepEqual(await callbacks.describe('points', '?includeInput').then(({ input }) => input), {
      success: { points },
    })
  })
})

test('a message in an address is bounded when it is decompressed', async () => {
  const path = '/commonplace.callbacks.v1.CallbackService/ListNamespaces'
  const ask = async (message: Buffer) => {
    const query = `connect=v1&encoding=proto&base64=1&compression=gzip&message=${gzipSync(message).toString('base64url')}`
    const headers = { authorization: `Bearer ${callbacks.server.adminToken}` }
    return (await fetch(`${callbacks.server.url}${path}?${query}`, { headers })).status
  }
  assert.equal(await ask(Buffer.alloc(3_000_000, Uint8Array.of(0x98, 0x06, 1))), 413)
  assert.equal(await ask(Buffer.alloc(30_000, Uint8Array.of(0x98, 0x06, 1))), 200)
})
