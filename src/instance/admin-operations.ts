import type { RateRule } from '../platform/http/entry/rate-rules.ts'
import { recordNotFound } from './invalid.ts'

/** What all operations of administrators share. */
export function adminOperation(rateLimit: readonly RateRule[]) {
  return {
    surface: 'instance',
    access: 'org_management',
    rateLimit,
    cacheControl: 'private, no-store',
    tags: ['instance'],
  } as const
}

/** `.json` at the end names the same resource. */
export function under(url: string) {
  return { url, aliases: [`${url}.json`] }
}

const RECORD_ID = /^(\d{1,15})(?:\.json)?$/

/** The number that a path names. What is no number names nothing. */
export function recordId(text: string): number {
  const [, digits] = RECORD_ID.exec(text) ?? []
  if (digits === undefined) throw recordNotFound()
  return Number(digits)
}
