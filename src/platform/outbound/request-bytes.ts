import type { CarriedRequest } from './carrier.ts'
import { isHeaderName, isLineText, withoutBlanks } from './header-text.ts'
import type { OutboundRequest } from './outbound-request.ts'

/** Made by the carriers; a second one, or another value, would make two requests out of one. */
const CARRIER_HEADERS = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'http2-settings', // is about the connection, and HTTP/2 forbids it
])
const NO_PATH = /[^\x21-\xff]/

const NO_HEADER = 'a header cannot be sent'

// The same names come again and again.
const MOST_NAMES = 1_000
const sendable = new Map<string, boolean>()

/** False when it is the carriers' to say. */
function judge(name: string): boolean {
  if (!isHeaderName(name)) throw new Error(NO_HEADER)
  const isSendable = !CARRIER_HEADERS.has(name.toLowerCase())
  if (sendable.size >= MOST_NAMES) sendable.clear()
  sendable.set(name, isSendable)
  return isSendable
}

/** The head of a request as HTTP/1.1 has it, one character for each byte. Throws where it would become something else. */
export function requestHead({ url, path, method, headers, body }: OutboundRequest): string {
  if (path[0] !== '/' || NO_PATH.test(path)) throw new Error('the path cannot be sent')
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
  for (const [name, value] of headers) {
    const isSendable = sendable.get(name) ?? judge(name)
    if (!isSendable) continue
    if (!isLineText(value)) throw new Error(NO_HEADER)
    head += `${name}: ${value}\r\n`
  }
  return method === 'POST' ? `${head}content-length: ${body.byteLength}\r\n\r\n` : `${head}\r\n`
}

export function requestBytes(request: OutboundRequest): CarriedRequest {
  const head = requestHead(request)
  const body = request.method === 'GET' ? 0 : request.body.byteLength
  const bytes = Buffer.allocUnsafe(head.length + body)
  bytes.write(head, 'latin1')
  if (body > 0) bytes.set(request.body, head.length)
  return { bytes, headBytes: head.length }
}

/** The parts again, for a protocol that says it in another way. */
export function requestParts({ bytes, headBytes }: CarriedRequest): {
  method: string
  path: string
  headers: [name: string, value: string][]
  body: Uint8Array
} {
  const [requestLine = '', ...lines] = Buffer.from(bytes.buffer, bytes.byteOffset, headBytes - 4)
    .toString('latin1')
    .split('\r\n')
  const [method = '', path = ''] = requestLine.split(' ')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ')
    // Blanks around a value mean nothing in HTTP/1.1; in HTTP/2 such a value is malformed, and receivers leave the header out.
    return [line.slice(0, colon), withoutBlanks(line, colon + 2)]
  })
  return {
    method,
    path,
    headers: headers.filter(([name]) => !CARRIER_HEADERS.has(name)),
    body: bytes.subarray(headBytes),
  }
}
