import { create } from '@bufbuild/protobuf'
import { type Payload as PayloadMessage, PayloadSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { shapeProblem } from '../../platform/http/input/json-shape.ts'
import type { Payload } from './messages.ts'
import { decodeText, isExactNumber, parseExactly } from './parse-json.ts'
import { plainBytes } from './read-scalar.ts'
import { WireProblem } from './wire-problem.ts'

const MESSAGE_TYPE = '_protoMessageType'
const CANONICAL_NAMES = new Set(['metadata', 'data', 'externalPayloads', 'external_payloads'])

// Shared by many payloads: messages are read, not written to.
const [JSON_PLAIN, JSON_PROTOBUF, BINARY_NULL] = ['json/plain', 'json/protobuf', 'binary/null'].map(bytesOf) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

type JsonObject = Record<string, unknown>

/** A payload written in short, as the value it stands for; undefined when it is written as the message it is. */
export function readShortPayload(json: unknown): PayloadMessage | undefined {
  if (json === null) return payloadOf({ encoding: BINARY_NULL }, '')
  if (isJsonObject(json)) {
    if (Object.hasOwn(json, MESSAGE_TYPE)) return readProtobufJson(json)
    if (isCanonical(json)) return undefined
  }
  return payloadOf({ encoding: JSON_PLAIN }, jsonText(json))
}

/** The value that a payload stands for. Undefined when only the message itself says all, or when reading the value would give another payload. */
export function shortValue({ metadata, data, externalPayloads }: Payload): { value: unknown } | undefined {
  const [key, ...others] = Object.keys(metadata)
  if (key !== 'encoding' || others.length > 0 || externalPayloads.length > 0) return undefined
  const encoding = decodeText(metadata.encoding as Uint8Array)
  if (encoding === 'binary/null') return data.length === 0 ? { value: null } : undefined
  const text = encoding === 'json/plain' ? decodeText(data) : undefined
  const value = text === undefined || shapeProblem(data) !== undefined ? undefined : parseExactly(text)
  if (value === undefined || value === null) return undefined
  const isMistakable = isJsonObject(value) && (Object.hasOwn(value, MESSAGE_TYPE) || isCanonical(value))
  return isMistakable ? undefined : { value }
}

export function isJsonObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !isExactNumber(json)
}

function isCanonical(json: JsonObject): boolean {
  const names = Object.keys(json)
  return (
    names.every((name) => CANONICAL_NAMES.has(name)) && (Object.hasOwn(json, 'metadata') || Object.hasOwn(json, 'data'))
  )
}

function readProtobufJson({ [MESSAGE_TYPE]: messageType, ...fields }: JsonObject): PayloadMessage {
  if (typeof messageType !== 'string' || messageType === '' || !messageType.isWellFormed()) {
    throw new WireProblem(`has a ${MESSAGE_TYPE} that is not the name of a message`)
  }
  return payloadOf({ encoding: JSON_PROTOBUF, messageType: bytesOf(messageType) }, jsonText(fields))
}

function jsonText(json: unknown): string {
  try {
    const text = JSON.stringify(json)
    if (text !== undefined) return text
  } catch {
    // Deeper than the stack; a body that was parsed here never is.
  }
  throw new WireProblem('is not JSON, or is nested too deeply')
}

function payloadOf(metadata: Record<string, Uint8Array>, data: string): PayloadMessage {
  return create(PayloadSchema, { metadata, data: bytesOf(data) })
}

function bytesOf(text: string): Uint8Array {
  return plainBytes(Buffer.from(text))
}
