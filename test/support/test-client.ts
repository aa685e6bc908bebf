import assert from 'node:assert/strict'
import type { TestServer } from './start-server.ts'

/** Who calls. `none` sends nothing, which in `dev` means the first administrator. */
export type Credentials =
  | 'administrator'
  | 'none'
  | { token: string }
  | { apiKey: string; applicationKey: string }
  | { headers: Record<string, string> }

export interface Answer<Body> {
  status: number
  headers: Headers
  body: Body
  text: string
}

export interface CallOptions {
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown
  headers?: Record<string, string>
}

// What a test reads from an answer, it asserts.
// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
type Loose = any

/** Speaks HTTP to a server and insists on the status of every call: an unexpected one fails with the body in sight. */
export interface TestClient {
  get<Body = Loose>(path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  post<Body = Loose>(path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  put<Body = Loose>(path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  patch<Body = Loose>(path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  delete<Body = Loose>(path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  call<Body = Loose>(method: string, path: string, status: number, options?: CallOptions): Promise<Answer<Body>>
  /** The same server, another caller. */
  as(credentials: Credentials): TestClient
}

type Target = Pick<TestServer, 'url' | 'adminToken'>

export function client(server: Target, credentials: Credentials = 'administrator'): TestClient {
  const call = async <Body>(method: string, path: string, status: number, options: CallOptions = {}) => {
    const { body, headers } = options
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(new URL(path, server.url), {
      method,
      redirect: 'manual',
      headers: {
        ...(isRaw ? {} : { 'content-type': 'application/json' }),
        ...credentialHeaders(server, credentials),
        ...headers,
      },
      body: isRaw ? (body as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body),
    })
    const text = await response.text()
    assert.equal(response.status, status, `${method} ${path} answered ${response.status}: ${text.slice(0, 2_000)}`)
    return { status, headers: response.headers, text, body: parse(text, response) as Body }
  }
  return {
    call,
    get: (path, status, options) => call('GET', path, status, options),
    post: (path, status, options) => call('POST', path, status, options),
    put: (path, status, options) => call('PUT', path, status, options),
    patch: (path, status, options) => call('PATCH', path, status, options),
    delete: (path, status, options) => call('DELETE', path, status, options),
    as: (other) => client(server, other),
  }
}

function credentialHeaders(server: Target, credentials: Credentials): Record<string, string> {
  if (credentials === 'none') return {}
  if (credentials === 'administrator') return { authorization: `Bearer ${server.adminToken}` }
  if ('token' in credentials) return { authorization: `Bearer ${credentials.token}` }
  if ('headers' in credentials) return credentials.headers
  return { 'x-api-key': credentials.apiKey, 'x-application-key': credentials.applicationKey }
}

function parse(text: string, response: Response): unknown {
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
  return isJson && text !== '' ? JSON.parse(text) : text
}
