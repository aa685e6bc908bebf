import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import type { DescMessage } from '@bufbuild/protobuf'
import { hasTooManyElements, hasTooManyJsonElements } from './count-elements.ts'

const DECOMPRESS = { gzip: promisify(gunzip), br: promisify(brotliDecompress) } as const

const HEAD_BYTES = 5
const COMPRESSED = 1

export interface MessageBounds {
  input: DescMessage
  header: Headers
  /** The largest message, after decompression. */
  maxBytes: number
  /** What is thrown for a message of too many elements. */
  tooMany(): Error
}

/**
 * The same bytes, as long as no message in them has too many elements. What cannot be read, or is too large, goes on
 * as it is: the protocol behind says what is wrong with it.
 */
export function boundMessages(body: AsyncIterable<Uint8Array>, bounds: MessageBounds): AsyncGenerator<Uint8Array> {
  const { header } = bounds
  const type = header.get('content-type')?.toLowerCase() ?? ''
  const hasTooMany = /[/+]json/.test(type)
    ? hasTooManyJsonElements
    : (message: Uint8Array) => hasTooManyElements(bounds.input, message)

  async function check(message: Uint8Array, coding: string | null): Promise<void> {
    const plain = coding === null ? message : await decompressed(message, coding, bounds.maxBytes)
    if (plain !== undefined && hasTooMany(plain)) throw bounds.tooMany()
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
 * Whether a message in an address is small enough to have few elements. An address is short, but what is compressed in
 * it may be a thousand times as long.
 */
export async function isBoundedQuery(url: string): Promise<boolean> {
  const query = new URL(url).searchParams
  const coding = query.get('compression')
  if (coding !== 'gzip' && coding !== 'br') return true
  try {
    await DECOMPRESS[coding](Buffer.from(query.get('message') ?? '', 'base64url'), { maxOutputLength: MAX_QUERY_BYTES })
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE'
  }
}

async function decompressed(bytes: Uint8Array, coding: string, maxBytes: number): Promise<Uint8Array | undefined> {
  if (coding === 'identity') return bytes
  if (coding !== 'gzip' && coding !== 'br') return undefined
  return DECOMPRESS[coding](bytes, { maxOutputLength: maxBytes }).catch(() => undefined)
}
