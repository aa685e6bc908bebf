// For authors of receivers: copy this file into your project, it needs Node and nothing else. It checks that a callback
// was sent by a server that knows your signing secret, as Standard Webhooks says (symmetric signatures, `v1`).
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface CallbackToVerify {
  /** Of the request, in any case: those of Node, of a framework, or a Headers object. */
  headers: { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>
  /** The bytes as they arrived. A body that was parsed and written anew has another signature. */
  body: Uint8Array | string
  /** `whsec_…`; several while secrets are changed, in any order. */
  secrets: string | readonly string[]
  /** How many seconds the sender's clock may differ from ours, both ways. */
  tolerance?: number
  /** Unix time in seconds; for tests. */
  now?: number
}

export interface VerifiedCallback {
  /** The same whenever this callback is repeated: remember it, and do not act twice. */
  id: string
  /** When this attempt was made, Unix time in seconds. */
  timestamp: number
  /** Counted from 1. It is not signed: use it for logs only. */
  attempt: number
}

export type VerificationProblem =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'invalid_signature'
  | 'invalid_secret'

export class CallbackNotVerified extends Error {
  readonly problem: VerificationProblem

  constructor(problem: VerificationProblem, message: string) {
    super(message)
    this.name = 'CallbackNotVerified'
    this.problem = problem
  }
}

const DEFAULT_TOLERANCE = 300
const SECRET_PREFIX = 'whsec_'

/**
 * Answers what the request says of itself, or throws `CallbackNotVerified`: then answer 401 and do nothing. With the header
 * `Nexus-Request-Retryable: true` nothing is lost when it was your own secret or clock that was wrong.
 */
export function verifyCallback({ headers, body, secrets, tolerance, now }: CallbackToVerify): VerifiedCallback {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('The body must be the bytes or the text of the request as they arrived, not what was parsed.')
  }
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(readSecret)
  if (keys.length === 0) throw new CallbackNotVerified('invalid_secret', 'There is no secret to verify with.')
  const id = requiredHeader(headers, 'webhook-id')
  const signatures = requiredHeader(headers, 'webhook-signature')
  const timeText = requiredHeader(headers, 'webhook-timestamp')
  const timestamp = readTimestamp(timeText)
  checkTime(timestamp, now ?? Date.now() / 1000, tolerance ?? DEFAULT_TOLERANCE)

  const given = signatures.split(' ').filter((signature) => signature.startsWith('v1,'))
  // Every pair is compared, so that the time taken tells nothing about which one matched.
  let matches = 0
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(`${id}.${timeText}.`).update(body).digest()
    for (const signature of given) matches += isEqual(Buffer.from(signature.slice(3), 'base64'), expected) ? 1 : 0
  }
  if (matches === 0) {
    throw new CallbackNotVerified('invalid_signature', 'No signature of the request was made with one of the secrets.')
  }
  return { id, timestamp, attempt: Number(headerOf(headers, 'webhook-attempt') ?? 1) }
}

function readSecret(text: string): Uint8Array {
  const encoded = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text
  const bytes = Buffer.from(encoded, 'base64')
  // Base64 is read leniently, and a mistyped secret would only be noticed by every signature being wrong.
  if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) {
    throw new CallbackNotVerified('invalid_secret', 'A secret must be "whsec_" and base64, as the server was given it.')
  }
  return bytes
}

function readTimestamp(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new CallbackNotVerified('invalid_timestamp', 'The header Webhook-Timestamp is not a Unix time in seconds.')
  }
  return Number(text)
}

/** Who records a request must not be able to send it again later. */
function checkTime(timestamp: number, now: number, tolerance: number): void {
  if (timestamp < now - tolerance) {
    throw new CallbackNotVerified('too_old', `The request was signed more than ${tolerance} seconds ago.`)
  }
  if (timestamp > now + tolerance) {
    throw new CallbackNotVerified('too_new', `The request was signed more than ${tolerance} seconds in the future.`)
  }
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function requiredHeader(headers: CallbackToVerify['headers'], name: string): string {
  const value = headerOf(headers, name)
  if (value) return value
  throw new CallbackNotVerified('missing_header', `The request has no header ${name}: is signing switched on?`)
}

function headerOf(headers: CallbackToVerify['headers'], name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers as Record<string, string | readonly string[] | undefined>)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
  return found.length === 1 ? found[0] : undefined
}
