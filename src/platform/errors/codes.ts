export interface ErrorCodeInfo {
  http: number
  /** Number of the gRPC / Connect status code. */
  rpc: number
  /** Whether the same request may succeed later without a change. */
  retryable: boolean
  meaning: string
}

/** Every error this server answers with. `docs/errors.md` shows the same table; a test compares the two. */
export const ERROR_CODES = {
  invalid_argument: { http: 400, rpc: 3, retryable: false, meaning: 'The request is malformed or breaks a rule.' },
  failed_precondition: {
    http: 400,
    rpc: 9,
    retryable: false,
    meaning: 'The resource is not in a state that allows this.',
  },
  unauthenticated: { http: 401, rpc: 16, retryable: false, meaning: 'No usable credentials were sent.' },
  permission_denied: { http: 403, rpc: 7, retryable: false, meaning: 'The credentials do not allow this.' },
  not_found: { http: 404, rpc: 5, retryable: false, meaning: 'There is no such resource, or it is not yours to see.' },
  method_not_allowed: { http: 405, rpc: 12, retryable: false, meaning: 'The path exists, the method does not.' },
  request_timeout: { http: 408, rpc: 4, retryable: true, meaning: 'The request did not arrive in time.' },
  conflict: { http: 409, rpc: 6, retryable: false, meaning: 'Something with that identity exists already.' },
  aborted: { http: 409, rpc: 10, retryable: true, meaning: 'A concurrent change won; read again and repeat.' },
  gone: { http: 410, rpc: 9, retryable: false, meaning: 'It was there once and is no longer kept.' },
  precondition_failed: { http: 412, rpc: 9, retryable: false, meaning: 'If-Match does not name the current version.' },
  too_large: { http: 413, rpc: 3, retryable: false, meaning: 'The request body is larger than allowed.' },
  uri_too_long: { http: 414, rpc: 3, retryable: false, meaning: 'The request address is longer than allowed.' },
  unsupported_media_type: {
    http: 415,
    rpc: 3,
    retryable: false,
    meaning: 'The body has a content type that is not read here.',
  },
  unprocessable: {
    http: 422,
    rpc: 3,
    retryable: false,
    meaning: 'The request is well formed but contradicts itself or the data.',
  },
  rate_limited: {
    http: 429,
    rpc: 8,
    retryable: true,
    meaning: 'Too many requests; Retry-After says when to try again.',
  },
  headers_too_large: { http: 431, rpc: 3, retryable: false, meaning: 'The request headers are larger than allowed.' },
  canceled: { http: 499, rpc: 1, retryable: false, meaning: 'The caller went away.' },
  internal: {
    http: 500,
    rpc: 13,
    retryable: false,
    meaning: 'A defect of the server; the log has the cause under the request id.',
  },
  unimplemented: { http: 501, rpc: 12, retryable: false, meaning: 'This server does not offer the operation.' },
  bad_gateway: {
    http: 502,
    rpc: 13,
    retryable: false,
    meaning: 'A service that this server was told to ask answered with something that is no answer.',
  },
  unavailable: {
    http: 503,
    rpc: 14,
    retryable: true,
    meaning: 'Storage or another needed part does not answer right now.',
  },
  deadline_exceeded: { http: 504, rpc: 4, retryable: true, meaning: 'The work was not done within the deadline.' },
} as const satisfies Record<string, ErrorCodeInfo>

export type ErrorCode = keyof typeof ERROR_CODES
