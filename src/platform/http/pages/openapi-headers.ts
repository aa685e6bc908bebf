import type { JsonSchema } from '../input/problem-texts.ts'
import { idempotencyOf } from '../operation.ts'
import type { AnyOperation, SentHeader } from '../operation-options.ts'

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
  ETag: { description: 'The version that was answered, for `If-Match` and `If-None-Match`.', schema: text },
  Location: { description: 'The address of what was made.', schema: text },
  Link: {
    description: 'The addresses of the pages before and behind this one, or of what takes the place of the operation.',
    schema: text,
  },
  Deprecation: { description: 'Since when another operation is to be used.', schema: text },
  'Idempotent-Replayed': {
    description: '`true` where this is the answer to an earlier request with the same `Idempotency-Key`.',
    schema: text,
  },
} as const satisfies Record<string, Header>

/** Of answers that tell of success. */
export function sentHeaders(operation: AnyOperation, status: number): HeaderRefs {
  const { etag, rateLimit, sends = [] } = operation
  const names: HeaderName[] = ['X-Request-Id']
  if (rateLimit !== null) names.push('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')
  if (etag) names.push('ETag')
  names.push(...sends.filter((name) => isSentWith(name, status)))
  if (idempotencyOf(operation) !== null) names.push('Idempotent-Replayed')
  return references(names)
}

/** Of errors. */
export function failureHeaders(): HeaderRefs {
  return references(['X-Request-Id', 'Retry-After'])
}

function isSentWith(name: SentHeader, status: number): boolean {
  return name !== 'Location' || status === 201
}

function references(names: readonly HeaderName[]): HeaderRefs {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
