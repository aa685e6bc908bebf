import type { JsonSchema } from '../input/problem-texts.ts'
import { idempotencyOf } from '../operation.ts'
import type { AnyOperation, SentHeader } from '../operation-options.ts'
import type { Surface } from '../surface.ts'

interface Header {
  description: string
  schema: JsonSchema
}

type HeaderName = keyof typeof HEADERS
export type HeaderRefs = Record<string, { $ref: string }>

const text = { type: 'string' }
const number = { type: 'integer', minimum: 0 }

/** What answers have beside their bodies, as far as clients act on it. */
export const HEADERS = {
  'X-Request-Id': { description: 'The one of the request, or a new one. It stands in the log.', schema: text },
  'Retry-After': { description: 'Of 429 and 503: after so many seconds it is worth another try.', schema: number },
  'X-RateLimit-Limit': { description: 'How many requests fit into a period.', schema: number },
  'X-RateLimit-Remaining': { description: 'How many are left of them.', schema: number },
  'X-RateLimit-Reset': {
    description: 'Seconds until the next period; on the instance surface its time.',
    schema: text,
  },
  'X-RateLimit-Period': { description: 'How many seconds a period has.', schema: number },
  'X-RateLimit-Name': { description: 'Which limit it is of which the others tell.', schema: text },
  ETag: { description: 'The version that was answered, for `If-Match` and `If-None-Match`.', schema: text },
  Location: { description: 'The address of what was made.', schema: text },
  Link: {
    description: 'The addresses of the pages before and behind this one, or of what takes the place of the operation.',
    schema: text,
  },
  'Accept-Query': { description: 'The media types that the method `QUERY` takes on this path.', schema: text },
  Deprecation: { description: 'Since when another operation is to be used.', schema: text },
  'Idempotent-Replayed': {
    description: '`true` where this is the answer to an earlier request with the same `Idempotency-Key`.',
    schema: text,
  },
} as const satisfies Record<string, Header>

const LIMITS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** What tells of limits, by surface; callbacks have them where a namespace has a limit. */
const LIMIT_HEADERS: Record<Surface, readonly HeaderName[]> = {
  users: [...LIMITS, 'X-RateLimit-Period', 'X-RateLimit-Name'],
  callbacks: [...LIMITS, 'X-RateLimit-Period', 'X-RateLimit-Name'],
  instance: LIMITS,
  knowledge: [],
  platform: [],
}

/** Of answers that tell of success, or lead to another address. */
export function sentHeaders(operation: AnyOperation, status: number): HeaderRefs {
  const { alsoBy, etag, rateLimit, sends = [], surface } = operation
  const names: HeaderName[] = ['X-Request-Id']
  if (rateLimit !== null) names.push(...LIMIT_HEADERS[surface])
  if (etag && status < 300) names.push('ETag')
  if (alsoBy !== undefined) names.push('Accept-Query')
  names.push(...sends.filter((name) => isSentWith(name, status)))
  if (idempotencyOf(operation) !== null) names.push('Idempotent-Replayed')
  return references(names)
}

/** Of errors. */
export function failureHeaders(surface: Surface): HeaderRefs {
  return references(['X-Request-Id', 'Retry-After', ...LIMIT_HEADERS[surface]])
}

function isSentWith(name: SentHeader, status: number): boolean {
  return name !== 'Location' || status === 201 || status === 302
}

function references(names: readonly HeaderName[]): HeaderRefs {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
