import { isPermissionName, type PermissionName } from '../../platform/auth/permissions.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { MintedSecret, MintedToken } from '../../platform/auth/secrets.ts'
import { MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'

/** Names the user. */
export interface ApplicationKey {
  id: string
  userId: UserId
  name: string
  last4: string
  /** Null: everything the owner may do. */
  scopes: PermissionName[] | null
  createdAt: Micros
  lastUsedAt: Micros | null
}

export interface AccessToken extends ApplicationKey {
  publicPortion: string
  expiresAt: Micros | null
}

/** Names the organization; worth something only together with an application key. */
export interface ApiKey {
  id: string
  organizationId: OrganizationId
  name: string
  last4: string
  createdBy: UserId | null
  modifiedBy: UserId | null
  createdAt: Micros
  modifiedAt: Micros
}

// Whoever asks for a year by a clock that is a little ahead gets it.
const CLOCK_SKEW: Micros = 60 * MICROS_PER_SECOND

/** What belongs to a user, by the table it is kept in. */
export interface OwnedCredentials {
  access_tokens: AccessToken
  application_keys: ApplicationKey
}

export type OwnedCredentialTable = keyof OwnedCredentials

/** What lists are sorted by; `expires_at` is for tokens only. */
export type OwnedSort = 'name' | 'created_at' | 'last4' | 'expires_at' | 'last_used_at'
export type ApiKeySort = 'name' | 'created_at' | 'modified_at' | 'last4'

/** A scope that its owner lacks has no effect; one that nobody knows is a mistake. */
export function parseScopes(scopes: readonly string[] | null): PermissionName[] | null {
  if (scopes === null) return null
  const unknown = scopes.filter((name) => !isPermissionName(name))
  if (unknown.length > 0) {
    const problems = unknown.map((name) => `scopes: "${name}" is not a permission`)
    throw new AppError('invalid_argument', problems[0] as string, { problems })
  }
  return [...new Set(scopes as PermissionName[])]
}

/** Every token ends within a year. */
export function parseExpiry(expiresAt: Micros, now: Micros): Micros {
  if (expiresAt <= now) throw new AppError('invalid_argument', 'expires_at must lie in the future')
  if (expiresAt > aYearAfter(now) + CLOCK_SKEW) {
    throw new AppError('invalid_argument', 'expires_at must be at most one year ahead')
  }
  return expiresAt
}

function aYearAfter(now: Micros): Micros {
  const date = new Date(now / MICROS_PER_MS)
  return date.setUTCFullYear(date.getUTCFullYear() + 1) * MICROS_PER_MS
}

export interface NewCredential {
  userId: UserId
  name: string
  scopes: PermissionName[] | null
  now: Micros
}

export function newApplicationKey(input: NewCredential, secret: MintedSecret): ApplicationKey {
  return {
    id: newId(),
    userId: input.userId,
    name: input.name,
    last4: secret.last4,
    scopes: input.scopes,
    createdAt: input.now,
    lastUsedAt: null,
  }
}

export function newAccessToken(input: NewCredential, expiresAt: Micros | null, secret: MintedToken): AccessToken {
  return { ...newApplicationKey(input, secret), publicPortion: secret.publicPortion, expiresAt }
}

export function newApiKey(
  input: { organizationId: OrganizationId; name: string; createdBy: UserId | null; now: Micros },
  secret: MintedSecret,
): ApiKey {
  return {
    id: newId(),
    organizationId: input.organizationId,
    name: input.name,
    last4: secret.last4,
    createdBy: input.createdBy,
    modifiedBy: input.createdBy,
    createdAt: input.now,
    modifiedAt: input.now,
  }
}
