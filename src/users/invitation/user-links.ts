/** One-time links that prove who follows them. The token travels to the person; only its SHA-256 is stored. */
import { randomBytes } from 'node:crypto'
import type { UserId } from '../../platform/auth/principal.ts'
import { hashSecret } from '../../platform/auth/secrets.ts'
import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { UserLinksTable } from '../tables.ts'
import { deleteLinksOf, insertLink, removeLink } from './store-links.ts'

export type LinkPurpose = UserLinksTable['purpose']

export interface NewLink {
  userId: UserId
  purpose: LinkPurpose
  /** The address that following the link proves. */
  email?: string
  ttlMs: number
  now: Micros
}

export interface TakenLink {
  userId: UserId
  email: string | null
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** 32 random bytes, as they stand behind `#token=`. */
export function mintLinkToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What a stored token is found by; undefined for a text that cannot be one. */
export function linkTokenHash(token: string): string | undefined {
  return TOKEN.test(token) ? hashSecret(token) : undefined
}

/** The token of a new link. A user has one link per purpose: an earlier one stops working. */
export async function mintLink(tx: Transaction, link: NewLink): Promise<string> {
  const { userId, purpose, email = null, ttlMs, now } = link
  const token = mintLinkToken()
  await deleteLinksOf(tx, userId, [purpose])
  await insertLink(tx, {
    id: newId(),
    user_id: userId,
    purpose,
    token_hash: hashSecret(token),
    email,
    created_at: now,
    expires_at: now + ttlMs * MICROS_PER_MS,
  })
  return token
}

/** Uses the link up; undefined when it is unknown, used, replaced or expired. */
export async function takeLink(
  tx: Transaction,
  purpose: LinkPurpose,
  token: string,
  now: Micros,
): Promise<TakenLink | undefined> {
  const hash = linkTokenHash(token)
  const link = hash && (await removeLink(tx, purpose, hash))
  return link && link.expires_at > now ? { userId: link.user_id, email: link.email } : undefined
}

/** Makes links of a user worthless: all of them, or those of some purposes. */
export function dropLinks(tx: Transaction, userId: UserId, purposes?: readonly LinkPurpose[]): Promise<void> {
  return deleteLinksOf(tx, userId, purposes)
}
