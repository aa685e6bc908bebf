import { isUtf8 } from 'node:buffer'
import { withCommas } from '../../text/with-commas.ts'
import { MAX_DEPTH, shapeProblem } from './json-shape.ts'
import { InvalidRequest } from './problem.ts'

export const JSON_TYPES = ['application/json', 'application/vnd.api+json']

/** More than any request of ours has. */
const MAX_VALUES = 250_000

const SHAPE_TEXTS = {
  'too deep': `is nested more than ${MAX_DEPTH} levels deep`,
  'too many values': `has more than ${withCommas(MAX_VALUES)} values`,
} as const

const LONG_NUMBER = /\d{16}/
const LONG_INTEGER = /^-?\d{16,}$/

const SUSPICIOUS = /__proto__|constructor|\\u00/i

/**
 * A JSON body as a value that is safe to hand on: valid UTF-8, bounded in depth and in the number of its values, and no
 * member that would reach the prototype of an object it is copied into. Numbers and texts are not changed: a whole number that
 * JavaScript would round is somebody's identifier, and becomes the text that it was written as. An empty body is undefined.
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw unusable('is not valid JSON')
  const problem = shapeProblem(body, { maxValues: MAX_VALUES })
  if (problem !== undefined) throw unusable(SHAPE_TEXTS[problem])
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  const text = body.toString('utf8', start)
  let value: unknown
  try {
    value = LONG_NUMBER.test(text) ? JSON.parse(text, unlessRounded) : JSON.parse(text)
  } catch {
    // The parser's own message quotes the body, which may hold a secret.
    throw unusable('is not valid JSON')
  }
  if (SUSPICIOUS.test(text) && reachesPrototype(value)) {
    throw unusable('has a member named __proto__ or constructor.prototype, which is not allowed')
  }
  return value
}

function unlessRounded(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined || !LONG_INTEGER.test(source)) return value
  return String(value) === source ? value : source
}

function unusable(text: string): InvalidRequest {
  return new InvalidRequest([{ part: 'body', at: [], text, kind: 'json' }])
}

// May call itself: the depth was bounded before.
function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(reachesPrototype)
  if (Object.hasOwn(value, '__proto__')) return true
  const maker = Object.hasOwn(value, 'constructor') ? value.constructor : undefined
  if (typeof maker === 'object' && maker !== null && Object.hasOwn(maker, 'prototype')) return true
  return Object.values(value).some(reachesPrototype)
}
