/** The reference implementation of gRPC for Node as a client: an opinion on the wire format that is not Connect's. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { anyUnpack, StringValueSchema } from '@bufbuild/protobuf/wkt'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { ErrorInfoSchema } from '../../../src/gen/google/rpc/error_details_pb.js'
import { StatusSchema } from '../../../src/gen/google/rpc/status_pb.js'
import { AppError } from '../../../src/platform/errors/app-error.ts'
import { probeService } from './probe-service.ts'
import { type RpcServer, startRpcServer, WRITER } from './rpc-server.ts'

const encode = (value: string) => Buffer.from(toBinary(StringValueSchema, create(StringValueSchema, { value })))
const decode = (bytes: Buffer) => fromBinary(StringValueSchema, bytes).value

describe('grpc-js', () => {
  let server: RpcServer
  let client: Client
  before(async () => {
    server = await startRpcServer(null)
    client = new Client(`127.0.0.1:${server.listener.port}`, credentials.createInsecure())
  })
  after(async () => {
    client.close()
    await server.stop()
  })

  function unary(method: string, value: string, headers: Record<string, string> = {}, options = {}): Promise<string> {
    const metadata = new Metadata()
    for (const [name, text] of Object.entries(headers)) metadata.set(name, text)
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/probe.v1.ProbeService/${method}`,
        encode,
        decode,
        value,
        metadata,
        options,
        (error, answer) => (error === null ? resolve(answer as string) : reject(error)),
      )
    })
  }

  test('gets an answer with credentials in the metadata', async () => {
    assert.equal(await unary('Echo', 'hello', { authorization: WRITER }), 'hello')
  })

  test('reads the status and its details', async () => {
    const error = await unary('Echo', 'hello').then(
      () => assert.fail('the call succeeded'),
      (e: ServiceError) => e,
    )
    assert.equal(error.code, status.UNAUTHENTICATED)
    const [bytes] = error.metadata.get('grpc-status-details-bin')
    const details = fromBinary(StatusSchema, bytes as Buffer)
    assert.equal(details.code, status.UNAUTHENTICATED)
    const [info] = details.details.map((any) => anyUnpack(any, ErrorInfoSchema))
    assert.equal(info?.reason, 'unauthenticated')
  })

  test('reads the message of a status as it was written, a very long one up to a whole character', async (t) => {
    let written = 'first, a: b/c? [d] 100 % = "e" & %2C é \u{1f600};\n#f+$@ ~!*()\''
    const open = (): never => {
      throw new AppError('invalid_argument', written)
    }
    const services = [probeService({ open: { access: 'public', handler: open } })]
    const failing = await startRpcServer(t, { services })
    const caller = new Client(`127.0.0.1:${failing.listener.port}`, credentials.createInsecure())
    const call = () =>
      new Promise<ServiceError | null>((resolve) => {
        caller.makeUnaryRequest('/probe.v1.ProbeService/Open', encode, decode, '', resolve)
      })
    const error = await call()
    assert.equal(error?.code, status.INVALID_ARGUMENT)
    assert.equal(error?.details, written)
    for (const before of ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']) {
      written = before + '€'.repeat(900)
      const { details = '' } = (await call()) ?? {}
      assert.ok(details.length > 220 && written.startsWith(details), details.slice(-20))
    }
    caller.close()
  })

  test('learns that a method is not there', async () => {
    const error = await unary('Nothing', 'x').catch((e: ServiceError) => e)
    assert.equal((error as ServiceError).code, status.UNIMPLEMENTED)
  })

  test('is refused a message above the limit', async () => {
    const error = await unary('Open', 'x'.repeat(4 * 1024 * 1024 + 1)).catch((e: ServiceError) => e)
    assert.equal((error as ServiceError).code, status.RESOURCE_EXHAUSTED)
  })

  test('may send and receive compressed messages', async () => {
    const text = 'again and '.repeat(5_000)
    assert.equal(await unary('Open', text, {}, {}), text)
    const zipped = new Client(`127.0.0.1:${server.listener.port}`, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': 2,
    })
    const answer = await new Promise((resolve, reject) => {
      zipped.makeUnaryRequest('/probe.v1.ProbeService/Open', encode, decode, text, (error, value) =>
        error === null ? resolve(value) : reject(error),
      )
    })
    zipped.close()
    assert.equal(answer, text)
  })

  test('reads a stream to its end', async () => {
    const seen: string[] = []
    for await (const value of client.makeServerStreamRequest('/probe.v1.ProbeService/Count', encode, decode, '5'))
      seen.push(value)
    assert.deepEqual(seen, ['1', '2', '3', '4', '5'])
  })

  test('talks both ways on one stream', async () => {
    const call = client.makeBidiStreamRequest('/probe.v1.ProbeService/Chat', encode, decode)
    const seen: string[] = []
    call.write('a')
    for await (const value of call) {
      seen.push(value as string)
      if (seen.length === 1) call.write('b')
      else call.end()
    }
    assert.deepEqual(seen, ['A', 'B'])
  })
})
