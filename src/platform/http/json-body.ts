import { isUtf8 } from 'node:buffer'
import { InvalidRequest } from './problem.ts'

export const JSON_TYPES = ['application/json', 'application/vnd.api+json']

/** Deeper than any document of ours, and shallow enough for code that walks a value by calling itself. */
const MAX_DEPTH = 100

const SUSPICIOUS = /__proto__|constructor|\\u00/i

/**
 * A JSON body as a value that is safe to hand on: valid UTF-8, bounded depth, and no member that would reach the
 * prototype of an object it is copied into. Numbers and texts are not changed. An empty body is undefined.
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw unusable('is not valid JSON')
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  const text = body.toString('utf8', start)
  if (isTooDeep(text)) {
    throw unusable(`is nested more than ${MAX_DEPTH} levels deep`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message quotes the body, which may hold a secret.
    throw unusable('is not valid JSON')
  }
  if (SUSPICIOUS.test(text) && reachesPrototype(value)) {
    throw unusable('has a member named __proto__ or constructor.prototype, which is not allowed')
  }
  return value
}

function unusable(text: string): InvalidRequest {
  return new InvalidRequest([{ part: 'body', at: [], text, kind: 'json' }])
}

function isTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH * 2) return false
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inText) {
      if (char === 0x5c) i++
      else if (char === 0x22) inText = false
    } else if (char === 0x22) inText = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
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
