import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import type { DescMessage } from '@bufbuild/protobuf'
import { base64Decode } from '@bufbuild/protobuf/wire'
import { hasTooManyElements, hasTooManyJsonElements, TOO_MANY_ELEMENTS } from './count-elements.ts'

const DECOMPRESS = { gzip: promisify(gunzip), br: promisify(brotliDecompress) } as const

// Connect would read each byte that is none as U+FFFD, and what is stored would not be what was sent.
const NOT_UTF8 = 'The message is not valid JSON: it is not UTF-8'

const HEAD_BYTES = 5
const COMPRESSED = 1

export interface MessageBounds {
  input: DescMessage
  header: Headers
  /** The largest message, after decompression. */
  maxBytes: number
  /** What is thrown for a message of which nothing is to be made. */
  refusal(reason: string): Error
}

/**
 * The same bytes, as long as no message in them has too many elements, or is JSON that is no UTF-8. What cannot be read, or
 * is too large, goes on as it is: the protocol behind says what is wrong with it.
 */
export function boundMessages(body: AsyncIterable<Uint8Array>, bounds: MessageBounds): AsyncGenerator<Uint8Array> {
  const { header } = bounds
  const type = header.get('content-type')?.toLowerCase() ?? ''
  const isJson = /[/+]json/.test(type)
  const hasTooMany = isJson
    ? hasTooManyJsonElements
    : (message: Uint8Array) => hasTooManyElements(bounds.input, message)

  async function check(message: Uint8Array, coding: string | null): Promise<void> {
    const plain = coding === null ? message : await decompressed(message, coding, bounds.maxBytes)
    if (plain === undefined) return
    if (isJson && !isUtf8(plain)) throw bounds.refusal(NOT_UTF8)
    if (hasTooMany(plain)) throw bounds.refusal(TOO_MANY_ELEMENTS)
  }

  if (type.startsWith('application/grpc')) return ofEnvelopes(body, bounds, header.get('grpc-encoding'), check)
  if (type.startsWith('application/connect')) {
    return ofEnvelopes(body, bounds, header.get('connect-content-encoding'), check)
  }
  return ofWhole(body, bounds, header.get('content-encoding'), check)
}

type Check = (message: Uint8Array, coding: string | null) => Promise<void>

/** Everything is handed on as it comes but the end: without that, nothing is made of a message. */
async function* ofWhole(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: MessageBounds,
  coding: string | null,
  check: Check,
): AsyncGenerator<Uint8Array> {
  const blocks: Uint8Array[] = []
  let size = 0
  for await (const block of body) {
    size += block.byteLength
    if (size <= maxBytes) blocks.push(block)
    else blocks.length = 0
    yield block
  }
  if (size <= maxBytes) await check(Buffer.concat(blocks), coding)
}

async function* ofEnvelopes(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: MessageBounds,
  coding: string | null,
  check: Check,
): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let size = 0
  // Of the head at first, then of the head and the message.
  let wanted = HEAD_BYTES
  for await (const block of body) {
    for (let rest = block; rest.byteLength > 0; ) {
      const part = rest.subarray(0, wanted - size)
      rest = rest.subarray(part.byteLength)
      parts.push(part)
      size += part.byteLength
      if (size === HEAD_BYTES) wanted += Buffer.concat(parts).readUInt32BE(1)
      if (wanted - HEAD_BYTES > maxBytes) parts = []
      else if (size === wanted) {
        const bytes = Buffer.concat(parts)
        const isCompressed = ((bytes[0] as number) & COMPRESSED) !== 0
        await check(bytes.subarray(HEAD_BYTES), isCompressed ? coding : null)
        parts = []
        size = 0
        wanted = HEAD_BYTES
      }
      yield part
    }
  }
}

const MAX_QUERY_BYTES = 64 * 1024

/**
 * What Connect would not say of a message in an address: that it is no base64, which it takes for a defect of ours, or that
 * it is large. An address is short, but what is compressed in it may be a thousand times as long.
 */
export async function queryProblem(url: string): Promise<'not base64' | 'too large' | null> {
  const query = new URL(url).searchParams
  const message = query.get('message') ?? ''
  if (query.get('base64') === '1' && !isBase64(message)) return 'not base64'
  const coding = query.get('compression')
  if (coding !== 'gzip' && coding !== 'br') return null
  try {
    await DECOMPRESS[coding](Buffer.from(message, 'base64url'), { maxOutputLength: MAX_QUERY_BYTES })
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : null
  }
}

function isBase64(text: string): boolean {
  try {
    base64Decode(text)
    return true
  } catch {
    return false
  }
}

async function decompressed(bytes: Uint8Array, coding: string, maxBytes: number): Promise<Uint8Array | undefined> {
  if (coding === 'identity') return bytes
  if (coding !== 'gzip' && coding !== 'br') return undefined
  return DECOMPRESS[coding](bytes, { maxOutputLength: maxBytes }).catch(() => undefined)
}
