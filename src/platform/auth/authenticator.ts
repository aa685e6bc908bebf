import type { Clock, Micros } from '../clock/clock.ts'
import { MICROS_PER_MS } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { type CredentialSource, type Credentials, credentialText, parseCredentials } from './credentials.ts'
import { csrfTokenMatches, isStateChanging } from './csrf.ts'
import type { IdentityChanges } from './identity-changes.ts'
import { isTrustedLocally } from './local-trust.ts'
import { LookUpCache } from './look-up-cache.ts'
import type { PermissionName } from './permissions.ts'
import { type Authentication, type AuthMethod, effectivePermissions, type Principal } from './principal.ts'
import { RecentTexts } from './recent-texts.ts'
import { lacksSecondFactor, type MfaPolicy } from './second-factor.ts'
import { hashSecret } from './secrets.ts'
import {
  findFirstAdministrator,
  findKeyPair,
  findSession,
  findToken,
  type KeyRow,
  type OwnerRow,
  type SessionRow,
} from './store.ts'
import { UsageRecorder } from './usage-recorder.ts'

export interface Authenticator {
  authenticate(source: CredentialSource): Promise<Authentication>
  /** The same from memory alone, for the usual case of a busy server; undefined when it has to be looked up. */
  recall?(source: CredentialSource): Authentication | undefined
}

export interface AuthenticatorOptions {
  db: Database
  clock: Clock
  log: Logger
  changes: IdentityChanges
  mode: 'dev' | 'serve'
  sessionIdleMs: number
  sessionMaxMs: number
  requireMfa?: MfaPolicy
  /** Told of every request that credentials let in. On the path of each: it must be quick, and must not throw. */
  onAccepted?(principal: Principal, now: Micros): void
}

/** How long a revoked right lives on at most: other nodes may learn of a change through nothing but this age. */
export const OLDEST_RIGHTS_MS = 1_000
const CACHE_FOUND = 10_000
const CACHE_MISSING = 2_000
const CACHE_TEXTS = 1_000
const RECORD_EVERY_MS = 60_000

const NONE: Authentication = { kind: 'none' }
const BAD: Authentication = { kind: 'bad' }
const BAD_CSRF: Authentication = { kind: 'bad', reason: 'csrf' }

/** A row as it was read, with the principal that it stands for as long as it is valid. */
interface Known {
  principal: Principal
  isActive: boolean
  expiresAt: Micros | null
  /** Sessions only. */
  lastSeenAt: Micros | null
}

/**
 * Resolves credentials against the database: one statement per look-up, remembered for a second at most. Whether a
 * credential has expired is judged on every request, so only revocation depends on the cache.
 */
export class DatabaseAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #cache: LookUpCache<Known>
  readonly #recent: RecentTexts<{ credentials: Secret; key: string }>
  readonly #usage: UsageRecorder
  readonly #stopListening: () => void

  constructor(options: AuthenticatorOptions) {
    const { db, clock, log, changes, sessionIdleMs } = options
    this.#options = options
    this.#cache = new LookUpCache({
      clock,
      maxAgeMs: OLDEST_RIGHTS_MS,
      maxFound: CACHE_FOUND,
      maxMissing: CACHE_MISSING,
    })
    this.#recent = new RecentTexts({ clock, maxAgeMs: OLDEST_RIGHTS_MS, maxSize: CACHE_TEXTS })
    // A short idle limit needs fresher times, or a session in use would look idle to another node.
    const everyMs = Math.max(1_000, Math.min(RECORD_EVERY_MS, sessionIdleMs / 10))
    this.#usage = new UsageRecorder({ db, clock, log, everyMs })
    this.#stopListening = changes.listen(() => this.invalidate())
  }

  async authenticate(source: CredentialSource): Promise<Authentication> {
    const credentials = parseCredentials(source)
    switch (credentials.kind) {
      case 'absent':
        return this.#options.mode === 'dev' && isTrustedLocally(source) ? this.#asFirstAdministrator() : NONE
      case 'incomplete':
        return NONE
      case 'malformed':
        return BAD
      default:
        return this.#judge(credentials, source)
    }
  }

  /** Forgets everything at once; the next request of each credential reads it again. */
  invalidate(): void {
    this.#cache.clear()
  }

  /** Writes the times of last use that are still in memory. */
  async close(): Promise<void> {
    this.#stopListening()
    this.#recent.clear()
    await this.#usage.close()
  }

  recall(source: CredentialSource): Authentication | undefined {
    const text = credentialText(source)
    const recent = text === undefined ? undefined : this.#recent.get(text)
    if (recent !== undefined) {
      const known = this.#cache.peek(recent.key)
      return known && this.#decide(known, recent.credentials, source)
    }
    const credentials = parseCredentials(source)
    if (!isSecret(credentials)) return undefined
    const key = cacheKey(credentials)
    const known = this.#cache.peek(key)
    if (known === undefined) return undefined
    if (text !== undefined) this.#recent.keep(text, { credentials, key })
    return this.#decide(known, credentials, source)
  }

  async #judge(credentials: Secret, source: CredentialSource): Promise<Authentication> {
    return this.#decide(await this.#lookUp(credentials), credentials, source)
  }

  #decide(known: Known | undefined, credentials: Secret, source: CredentialSource): Authentication {
    if (known === undefined || !known.isActive) return BAD
    const { principal } = known
    const now = this.#options.clock.now()
    if (known.expiresAt !== null && known.expiresAt <= now) return BAD
    if (known.lastSeenAt !== null && this.#isIdle(principal.credentialId as string, known.lastSeenAt, now)) return BAD
    if (
      principal.method === 'cookie' &&
      isStateChanging(source.method) &&
      !csrfTokenMatches(principal.csrfToken as string, source.header('x-csrf-token'))
    ) {
      return BAD_CSRF
    }
    this.#usage.record(TABLES[credentials.kind], principal.credentialId as string, now)
    this.#options.onAccepted?.(principal, now)
    return { kind: 'ok', principal }
  }

  #isIdle(sessionId: string, lastSeenAt: Micros, now: Micros): boolean {
    const seenAt = Math.max(lastSeenAt, this.#usage.lastUse(sessionId) ?? 0)
    return seenAt + this.#options.sessionIdleMs * MICROS_PER_MS <= now
  }

  #lookUp(credentials: Secret): Promise<Known | undefined> {
    return this.#cache.get(cacheKey(credentials), () => this.#read(credentials))
  }

  async #read(credentials: Secret): Promise<Known | undefined> {
    const { db } = this.#options
    switch (credentials.kind) {
      case 'token':
        return fromKey(await db.run(findToken, { hash: hashSecret(credentials.token) }), 'token')
      case 'session': {
        const rows = await db.run(findSession, { hash: hashSecret(credentials.token) })
        return fromSession(rows, credentials.via, this.#options)
      }
      case 'key_pair': {
        const apiKeyHash = hashSecret(credentials.apiKey)
        const applicationKeyHash = hashSecret(credentials.applicationKey)
        return fromKey(await db.run(findKeyPair, { apiKeyHash, applicationKeyHash }), 'key_pair')
      }
    }
  }

  async #asFirstAdministrator(): Promise<Authentication> {
    const known = await this.#cache.get('dev', async () => {
      const [row] = await this.#options.db.run(findFirstAdministrator, {})
      return row && { principal: toPrincipal(row, 'dev'), isActive: true, expiresAt: null, lastSeenAt: null }
    })
    return known === undefined ? NONE : { kind: 'ok', principal: known.principal }
  }
}

type Secret = Extract<Credentials, { kind: 'token' | 'session' | 'key_pair' }>

function isSecret(credentials: Credentials): credentials is Secret {
  return credentials.kind === 'token' || credentials.kind === 'session' || credentials.kind === 'key_pair'
}

// NOTE The secret is hashed first: a look-up in memory then tells no more about it by its timing than one in the database.
function cacheKey(credentials: Secret): string {
  switch (credentials.kind) {
    case 'token':
      return `token ${hashSecret(credentials.token)}`
    case 'session':
      return `${credentials.via} ${hashSecret(credentials.token)}`
    case 'key_pair':
      return `keys ${hashSecret(`${credentials.apiKey} ${credentials.applicationKey}`)}`
  }
}

const TABLES = { token: 'access_tokens', session: 'sessions', key_pair: 'application_keys' } as const

function fromKey([row]: KeyRow[], method: 'token' | 'key_pair'): Known | undefined {
  if (row === undefined) return undefined
  const principal = { ...toPrincipal(row, method, row.scopes), credentialId: row.credential_id }
  if (row.api_key_id !== undefined) principal.apiKeyId = row.api_key_id
  return { principal, isActive: row.status === 'Active', expiresAt: row.expires_at, lastSeenAt: null }
}

function fromSession(
  [row]: SessionRow[],
  method: 'session' | 'cookie',
  { sessionMaxMs, requireMfa = 'off' }: Pick<AuthenticatorOptions, 'sessionMaxMs' | 'requireMfa'>,
): Known | undefined {
  if (row === undefined) return undefined
  const hasSecondFactor = row.has_second_factor > 0
  const mustEnrol = lacksSecondFactor(requireMfa, { permissions: ownedPermissions(row), hasSecondFactor })
  const principal = toPrincipal(mustEnrol ? { ...row, permissions: null } : row, method)
  return {
    principal: { ...principal, credentialId: row.credential_id, csrfToken: row.csrf_token, mustEnrol },
    isActive: row.status === 'Active',
    // A limit that was lowered since holds for sessions that exist already.
    expiresAt: Math.min(row.expires_at, row.created_at + sessionMaxMs * MICROS_PER_MS),
    lastSeenAt: row.last_seen_at,
  }
}

function ownedPermissions({ permissions }: OwnerRow): PermissionName[] {
  return (permissions === null ? [] : permissions.split(',')) as PermissionName[]
}

function toPrincipal(row: OwnerRow, method: AuthMethod, scopes: string | null = null): Writable<Principal> {
  const owned = ownedPermissions(row)
  return {
    kind: row.service_account === 1 ? 'service_account' : 'user',
    userId: row.user_id,
    organizationId: row.organization_id,
    permissions: effectivePermissions(owned, scopes === null ? null : (JSON.parse(scopes) as PermissionName[])),
    method,
    credentialId: null,
    csrfToken: null,
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
