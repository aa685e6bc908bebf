import { hash } from 'node:crypto'
import { AppError } from '../../errors/app-error.ts'

const NOT_CURRENT = 'does not name the current version: read it again and repeat'
// A checksum without its quotes is the usual mistake, and reading it again would not help.
const NO_TAG = 'has no tag: repeat the ETag of the answer with its quotes, as "v1", or send *'
// Proxies that compress answers make tags weak, and reading it again through one would not help either.
const WEAK_TAG =
  'has a weak tag, which names no version here: repeat it without W/, which a proxy may have put before it'

/** A weak tag over the uncompressed body: the same document in another coding is the same document. */
export function weakETag(body: string | Buffer): string {
  return `W/"${hash('sha1', body, 'base64url')}"`
}

/** Weak comparison of `If-None-Match` (one tag, a list, or `*`) with the current tag. */
export function matchesNone(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || tagsOf(header).includes(opaque(etag)))
}

/**
 * Throws `precondition_failed` unless `If-Match` is absent, `*`, or names the current tag. `current` is null when the
 * resource does not exist. Where tags name versions of documents, not bytes, a weak one may be matched as well.
 */
export function requireMatch(
  header: string | undefined,
  current: string | null,
  comparison: 'weak' | 'strong' = 'weak',
): void {
  if (header === undefined) return
  if (current !== null && (header.trim() === '*' || namesIt(header, current, comparison))) return
  throw new AppError('precondition_failed', `If-Match ${mismatch(header, current)}`)
}

/** Throws `invalid_argument` where the `If-None-Match` of a change has neither a tag nor `*`: passed over, it would guard nothing. */
export function requireTag(header: string | undefined): void {
  if (header !== undefined && !hasTag(header)) throw new AppError('invalid_argument', `If-None-Match ${NO_TAG}`)
}

function mismatch(header: string, current: string | null): string {
  if (!hasTag(header)) return NO_TAG
  return current !== null && tagsOf(header).includes(opaque(current)) ? WEAK_TAG : NOT_CURRENT
}

function hasTag(header: string): boolean {
  return header.includes('"') || header.trim() === '*'
}

function namesIt(header: string, current: string, comparison: 'weak' | 'strong'): boolean {
  if (comparison === 'weak') return tagsOf(header).includes(opaque(current))
  const tags: readonly string[] = header.match(/(?:[Ww]\/)?"[^"]*"/g) ?? []
  return tags.includes(current) && !current.startsWith('W/')
}

function tagsOf(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? []
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
