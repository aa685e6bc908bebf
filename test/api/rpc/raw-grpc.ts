/** gRPC by hand, for requests that no client library would send. */
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { TestContext } from 'node:test'

export interface RawAnswer {
  httpStatus: number | undefined
  /** The grpc-status, or undefined when the stream ended without one. */
  status: number | undefined
  message: string
  trailerBytes: number
}

export function rawSession(t: TestContext, url: string): ClientHttp2Session {
  const session = connect(url)
  session.on('error', () => undefined)
  t.after(() => session.destroy())
  return session
}

/** Sends the bytes as the whole body; `null` sends headers and leaves the body open. */
export function rawCall(
  session: ClientHttp2Session,
  path: string,
  body: Uint8Array | null,
  headers: OutgoingHttpHeaders = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    let httpStatus: number | undefined
    let trailers: Record<string, unknown> = {}
    stream.on('response', (head) => {
      httpStatus = head[':status']
      if (head['grpc-status'] !== undefined) trailers = head
    })
    stream.on('trailers', (received) => {
      trailers = received
    })
    stream.on('error', () => undefined)
    stream.on('close', () => {
      resolve({
        httpStatus,
        status: trailers['grpc-status'] === undefined ? undefined : Number(trailers['grpc-status']),
        message: decodeURIComponent(String(trailers['grpc-message'] ?? '')),
        trailerBytes: JSON.stringify(trailers).length,
      })
    })
    stream.resume()
    if (body !== null) stream.end(body)
  })
}

export function envelope(flags: number, data: Uint8Array, length = data.byteLength): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, data])
}
