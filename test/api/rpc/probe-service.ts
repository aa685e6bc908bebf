/** A service of every shape a method can have, so that the platform can be tested without a feature. */
import { create, createFileRegistry } from '@bufbuild/protobuf'
import type { GenService } from '@bufbuild/protobuf/codegenv2'
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  type StringValueSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'
import { type RpcMethods, rpcService } from '../../../src/platform/rpc/rpc-service.ts'

interface Text<Kind extends string> {
  methodKind: Kind
  input: typeof StringValueSchema
  output: typeof StringValueSchema
}

export type ProbeService = GenService<{
  echo: Text<'unary'>
  open: Text<'unary'>
  count: Text<'server_streaming'>
  join: Text<'client_streaming'>
  chat: Text<'bidi_streaming'>
}>

const TEXT = '.google.protobuf.StringValue'

const file = create(FileDescriptorProtoSchema, {
  name: 'probe/v1/probe.proto',
  package: 'probe.v1',
  syntax: 'proto2',
  dependency: ['google/protobuf/wrappers.proto'],
  messageType: [{ name: 'Extendable', extensionRange: [{ start: 100, end: 200 }] }],
  extension: [
    { name: 'extra', number: 101, label: Label.OPTIONAL, type: Type.STRING, extendee: '.probe.v1.Extendable' },
  ],
  service: [
    {
      name: 'ProbeService',
      method: [
        { name: 'Echo', inputType: TEXT, outputType: TEXT },
        { name: 'Open', inputType: TEXT, outputType: TEXT },
        { name: 'Count', inputType: TEXT, outputType: TEXT, serverStreaming: true },
        { name: 'Join', inputType: TEXT, outputType: TEXT, clientStreaming: true },
        { name: 'Chat', inputType: TEXT, outputType: TEXT, clientStreaming: true, serverStreaming: true },
      ],
    },
  ],
})

const registry = createFileRegistry(file, (name) =>
  name === 'google/protobuf/wrappers.proto' ? file_google_protobuf_wrappers : undefined,
)

export const ProbeService = registry.getService('probe.v1.ProbeService') as ProbeService

/** `echo` needs callbacks_write, `join` any credentials; the others are open. */
export function probeService(overrides: Partial<RpcMethods<ProbeService>> = {}) {
  return rpcService(ProbeService, {
    echo: { access: 'callbacks_write', handler: ({ value }) => ({ value }) },
    open: { access: 'public', handler: ({ value }) => ({ value }) },
    count: {
      access: 'public',
      async *handler({ value }) {
        for (let n = 1; n <= Number(value); n++) yield { value: String(n) }
      },
    },
    join: {
      access: 'signed_in',
      async handler(requests) {
        const parts: string[] = []
        for await (const { value } of requests) parts.push(value)
        return { value: parts.join('+') }
      },
    },
    chat: {
      access: 'public',
      async *handler(requests) {
        for await (const { value } of requests) yield { value: value.toUpperCase() }
      },
    },
    ...overrides,
  })
}
