import { timingSafeEqual } from 'node:crypto'
import { hashSecret } from './secrets.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isStateChanging(method: string): boolean {
  return !SAFE_METHODS.has(method.toUpperCase())
}

/** Another site can make a browser send our cookie, but cannot read the token that must come with it. */
export function csrfTokenMatches(expected: string, sent: string | undefined): boolean {
  if (sent === undefined || sent.length > 256) return false
  return timingSafeEqual(Buffer.from(hashSecret(expected)), Buffer.from(hashSecret(sent)))
}
