/** The proto3 JSON mapping, outwards: defaults left out, 64-bit numbers as texts, enums by name, bytes as base64. */
import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { durationJson } from './duration.ts'
import type { Payload } from './messages.ts'
import { shortValue } from './payload-shorthand.ts'
import { setOwn } from './set-own.ts'
import { timestampJson } from './timestamp.ts'

export interface WriteOptions {
  /** Whether payloads are written in short where that says the same. */
  shorthand: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: the descriptor says what the value is, the compiler cannot know it
type WriteValue = (value: any, options: WriteOptions) => unknown

interface Member {
  field: DescField
  write: WriteValue
  isDefault(value: unknown): boolean
}

const known = new WeakMap<DescMessage, Member[]>()

export function writeFields(desc: DescMessage, message: Message, options: WriteOptions): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const { field, write, isDefault } of known.get(desc) ?? membersOf(desc)) {
    const value = memberValue(message as Message & Record<string, unknown>, field)
    if (!isDefault(value)) json[field.jsonName] = write(value, options)
  }
  return json
}

function memberValue(message: Record<string, unknown>, { oneof, localName }: DescField): unknown {
  if (oneof === undefined) return message[localName]
  const chosen = message[oneof.localName] as { case: string | undefined; value?: unknown }
  return chosen.case === localName ? chosen.value : undefined
}

function membersOf(desc: DescMessage): Member[] {
  const members = desc.fields.map((field) => ({ field, write: fieldWriter(field), isDefault: defaultCheck(field) }))
  known.set(desc, members)
  return members
}

/** What was set by name is written whatever it is: a member of a oneof, a message, an `optional` field. */
function defaultCheck(field: DescField): Member['isDefault'] {
  if (field.fieldKind === 'list') return (value) => (value as unknown[]).length === 0
  if (field.fieldKind === 'map') return (value) => Object.keys(value as object).length === 0
  const isOptional = field.proto.proto3Optional
  if (field.fieldKind === 'message' || field.oneof !== undefined || isOptional) return (value) => value === undefined
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES) {
    return (value) => (value as Uint8Array).length === 0
  }
  return (value) => value === '' || value === 0 || value === 0n || value === false
}

function fieldWriter(field: DescField): WriteValue {
  const write = valueWriter(field)
  switch (field.fieldKind) {
    case 'list':
      return (items: unknown[], options) => items.map((item) => write(item, options))
    case 'map':
      return (map: Record<string, unknown>, options) => {
        const json: Record<string, unknown> = {}
        for (const key of Object.keys(map)) setOwn(json, key, write(map[key], options))
        return json
      }
    default:
      return write
  }
}

function valueWriter(field: DescField): WriteValue {
  if (field.message !== undefined) return messageWriter(field.message)
  if (field.enum !== undefined) return enumWriter(field.enum)
  switch (field.scalar) {
    case ScalarType.BYTES:
      return base64
    case ScalarType.INT64:
      return (value: bigint) => value.toString()
    case ScalarType.DOUBLE:
      return (value: number) => (Number.isFinite(value) ? value : String(value))
    case ScalarType.STRING:
    case ScalarType.BOOL:
    case ScalarType.INT32:
      return (value) => value
    default:
      throw new Error(`${field} is of a type that is not written as JSON`)
  }
}

function messageWriter(desc: DescMessage): WriteValue {
  switch (desc.typeName) {
    case 'google.protobuf.Timestamp':
      return timestampJson
    case 'google.protobuf.Duration':
      return durationJson
    case 'google.protobuf.Struct':
      return (value) => value
    case 'temporal.api.common.v1.Payload':
      return (payload: Payload & Message, options) => writePayload(desc, payload, options)
    default:
      return (message: Message, options) => writeFields(desc, message, options)
  }
}

function writePayload(desc: DescMessage, payload: Payload & Message, options: WriteOptions): unknown {
  const short = options.shorthand ? shortValue(payload) : undefined
  if (short !== undefined) return short.value
  const json = writeFields(desc, payload, options)
  // Alone, the sizes would be read as a value that has a member of this name.
  if (options.shorthand && 'externalPayloads' in json && !('metadata' in json)) json.data ??= ''
  return json
}

/** A value that a later version added stays a number. */
function enumWriter(desc: DescEnum): WriteValue {
  return (value: number) => desc.value[value]?.name ?? value
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
