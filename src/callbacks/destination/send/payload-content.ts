import { isUtf8 } from 'node:buffer'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { isHeaderName } from '../../../platform/outbound/header-text.ts'
import type { Payload } from '../../wire/messages.ts'
import { OPAQUE_PAYLOAD_TYPE } from '../literals.ts'
import { hasControlCharacters } from './header-text.ts'

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

export interface Content {
  /** `content-…` in lower case to its value; the length is not among them. */
  headers: Map<string, string>
  body: Uint8Array
}

/** How a result travels: as what its metadata says it is where receivers have a media type for it, else as a message. */
export function payloadContent(payload: Payload): Content {
  const keys = Object.keys(payload.metadata)
  const encoding = metadataText(payload, 'encoding')
  if (encoding === 'unknown/nexus-content') return { headers: ownHeaders(payload), body: payload.data }
  const mediaType = mediaTypeOf(payload, keys, encoding)
  if (mediaType === undefined) return contentOf(OPAQUE_PAYLOAD_TYPE, encodePayload(payload))
  return contentOf(mediaType, payload.data)
}

/** Why the metadata cannot become headers of so many bytes; undefined when it can, or need not. */
export function findMetadataProblem(payload: Payload, maxHeaderBytes: number): string | undefined {
  const { headers } = payloadContent(payload)
  if (metadataText(payload, 'encoding') === 'unknown/nexus-content') {
    const wrong = Object.keys(payload.metadata).find((key) => !isHeaderName(key))
    if (wrong !== undefined) return `completion metadata has a key that is no header name: ${JSON.stringify(wrong)}`
  }
  const sent = sentKeys(payload)
  if (sent.length === 0) return undefined
  const unreadable = sent.find((key) => !isUtf8(payload.metadata[key] as Uint8Array))
  if (unreadable !== undefined) return `completion metadata for ${JSON.stringify(unreadable)} must be UTF-8`
  let bytes = 0
  for (const [name, value] of headers) {
    if (hasControlCharacters(value)) return `completion metadata for "${name}" must not contain control characters`
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  return bytes > maxHeaderBytes
    ? `completion metadata header size is ${bytes} bytes, which exceeds the limit of ${maxHeaderBytes}`
    : undefined
}

/** Those whose values become headers. */
function sentKeys(payload: Payload): string[] {
  const keys = Object.keys(payload.metadata)
  const encoding = metadataText(payload, 'encoding')
  if (encoding === 'unknown/nexus-content') return keys.filter((key) => key !== 'encoding')
  return keys.length === 2 && mediaTypeOf(payload, keys, encoding) !== undefined ? ['messageType'] : []
}

/** Empty when there is none to name, undefined when no media type tells all that the metadata does. */
function mediaTypeOf(payload: Payload, keys: string[], encoding: string | undefined): string | undefined {
  if (keys.length === 1) {
    if (encoding === 'json/plain') return 'application/json'
    if (encoding === 'binary/plain') return 'application/octet-stream'
    if (encoding === 'binary/null') return ''
  }
  const messageType = keys.length === 2 ? metadataText(payload, 'messageType') : undefined
  // Receivers take an empty name for none, and the media type for one they do not know.
  if (messageType === undefined || messageType === '') return undefined
  const parameter = `message-type="${messageType.replaceAll(/["\\]/g, '\\$&')}"`
  if (encoding === 'json/protobuf') return `application/json; format=protobuf; ${parameter}`
  return encoding === 'binary/protobuf' ? `application/x-protobuf; ${parameter}` : undefined
}

function ownHeaders(payload: Payload): Map<string, string> {
  const headers = new Map<string, string>()
  for (const key of Object.keys(payload.metadata)) {
    const name = `content-${key.toLowerCase()}`
    // The length is that of the body, whatever somebody says it is.
    if (key === 'encoding' || name === 'content-length' || !isHeaderName(key)) continue
    headers.set(name, metadataText(payload, key) ?? '')
  }
  return headers
}

function contentOf(mediaType: string, body: Uint8Array): Content {
  return { headers: new Map(mediaType === '' ? [] : [['content-type', mediaType]]), body }
}

function metadataText(payload: Payload, key: string): string | undefined {
  const bytes = Object.hasOwn(payload.metadata, key) ? payload.metadata[key] : undefined
  return bytes === undefined ? undefined : DECODER.decode(bytes)
}

function encodePayload({ metadata, data, externalPayloads }: Payload): Uint8Array {
  const writer = new BinaryWriter()
  for (const [key, value] of Object.entries(metadata)) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).bytes(value).join()
  }
  if (data.length > 0) writer.tag(2, WireType.LengthDelimited).bytes(data)
  for (const { sizeBytes } of externalPayloads) {
    writer.tag(3, WireType.LengthDelimited).fork()
    if (sizeBytes !== 0n) writer.tag(1, WireType.Varint).int64(sizeBytes)
    writer.join()
  }
  return writer.finish()
}
