import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Code, createClient } from '@connectrpc/connect'
import { ServerReflection, type ServerReflectionRequest } from '../../../src/gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionAlpha } from '../../../src/gen/grpc/reflection/v1alpha/reflection_pb.js'
import { type RpcServer, startRpcServer, transportOf } from './rpc-server.ts'

type Question = ServerReflectionRequest['messageRequest']

for (const [version, desc] of [
  ['v1', ServerReflection],
  ['v1alpha', ServerReflectionAlpha as unknown as typeof ServerReflection],
] as const) {
  describe(`reflection ${version}`, () => {
    let server: RpcServer
    before(async () => {
      server = await startRpcServer(null)
    })
    after(() => server.stop())

    /** Asks all questions on one stream. */
    async function ask(...questions: Question[]) {
      async function* requests() {
        for (const messageRequest of questions) yield { host: 'h', messageRequest } as never
      }
      const answers = []
      for await (const answer of createClient(desc, transportOf(server, 'grpc')).serverReflectionInfo(requests()))
        answers.push(answer)
      assert.equal(answers.length, questions.length)
      return answers
    }

    async function filesOf(...questions: Question[]): Promise<string[][]> {
      return (await ask(...questions)).map(({ messageResponse }) => {
        assert.equal(messageResponse.case, 'fileDescriptorResponse')
        const { fileDescriptorProto } = messageResponse.value as { fileDescriptorProto: Uint8Array[] }
        return fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
      })
    }

    test('lists every service', async () => {
      const [answer] = await ask({ case: 'listServices', value: '' })
      assert.equal(answer?.validHost, 'h')
      assert.equal(answer?.originalRequest?.messageRequest.case, 'listServices')
      assert.ok(answer?.messageResponse.case === 'listServicesResponse')
      assert.deepEqual(
        answer.messageResponse.value.service.map(({ name }) => name),
        server.rpc.serviceNames,
      )
    })

    test('resolves every service from its name alone', async () => {
      for (const name of server.rpc.serviceNames) {
        const [answer] = await ask({ case: 'fileContainingSymbol', value: name })
        assert.ok(answer?.messageResponse.case === 'fileDescriptorResponse')
        const file = answer.messageResponse.value.fileDescriptorProto.map((bytes) =>
          fromBinary(FileDescriptorProtoSchema, bytes),
        )
        // Imports come after the file that needs them; a registry wants them before.
        const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }))
        const resolved = registry.getService(name)
        assert.equal(resolved?.typeName, name)
        for (const method of resolved.methods) assert.ok(method.input.typeName && method.output.typeName)
      }
    })

    test('finds a file by its name and by anything declared in it', async () => {
      const symbols = [
        'grpc.health.v1.Health.Watch',
        'grpc.health.v1.HealthCheckResponse.ServingStatus',
        'grpc.health.v1.HealthCheckResponse.SERVING',
        'grpc.health.v1.HealthCheckRequest.service',
      ]
      for (const value of symbols) {
        assert.deepEqual(await filesOf({ case: 'fileContainingSymbol', value }), [['grpc/health/v1/health.proto']])
      }
      assert.deepEqual(await filesOf({ case: 'fileByFilename', value: 'google/protobuf/wrappers.proto' }), [
        ['google/protobuf/wrappers.proto'],
      ])
    })

    test('knows the error details although no method refers to them', async () => {
      const [files] = await filesOf({ case: 'fileContainingSymbol', value: 'google.rpc.ErrorInfo' })
      assert.deepEqual(files, ['google/rpc/error_details.proto', 'google/protobuf/duration.proto'])
    })

    test('sends an import once per stream, the wanted file always', async () => {
      const probe: Question = { case: 'fileContainingSymbol', value: 'probe.v1.ProbeService' }
      assert.deepEqual(await filesOf(probe, probe), [
        ['probe/v1/probe.proto', 'google/protobuf/wrappers.proto'],
        ['probe/v1/probe.proto'],
      ])
    })

    test('knows extensions', async () => {
      const value = { containingType: 'probe.v1.Extendable', extensionNumber: 101 } as never
      assert.deepEqual((await filesOf({ case: 'fileContainingExtension', value }))[0]?.[0], 'probe/v1/probe.proto')
      const [some, none] = await ask(
        { case: 'allExtensionNumbersOfType', value: 'probe.v1.Extendable' },
        { case: 'allExtensionNumbersOfType', value: 'google.protobuf.StringValue' },
      )
      assert.ok(some?.messageResponse.case === 'allExtensionNumbersResponse')
      assert.deepEqual(some.messageResponse.value.extensionNumber, [101])
      assert.ok(none?.messageResponse.case === 'allExtensionNumbersResponse')
      assert.deepEqual(none.messageResponse.value.extensionNumber, [])
    })

    test('says what it does not know and goes on', async () => {
      const answers = await ask(
        { case: 'fileByFilename', value: '/etc/passwd' },
        { case: 'fileContainingSymbol', value: 'constructor' },
        { case: 'fileContainingExtension', value: { containingType: '__proto__', extensionNumber: 1 } as never },
        { case: 'allExtensionNumbersOfType', value: 'toString' },
        { case: undefined },
        { case: 'listServices', value: '*' },
      )
      const codes = answers.map(({ messageResponse: { case: kind, value } }) =>
        kind === 'errorResponse' ? value.errorCode : kind,
      )
      assert.deepEqual(codes, [
        Code.NotFound,
        Code.NotFound,
        Code.NotFound,
        Code.NotFound,
        Code.InvalidArgument,
        'listServicesResponse',
      ])
    })
  })
}
