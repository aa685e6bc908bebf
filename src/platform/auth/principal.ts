import type { Id } from '../ids/uuid.ts'
import type { PermissionName } from './permissions.ts'

export type UserId = Id<'User'>
export type OrganizationId = Id<'Organization'>

export type PrincipalKind = 'user' | 'service_account' | 'system'
export type AuthMethod = 'token' | 'session' | 'key_pair' | 'cookie' | 'dev' | 'cli'

/** Who is calling, and what the caller may do. */
export interface Principal {
  readonly kind: PrincipalKind
  readonly userId: UserId | null
  readonly organizationId: OrganizationId
  /** Already narrowed to the scopes of the credential. */
  readonly permissions: ReadonlySet<PermissionName>
  readonly method: AuthMethod
  /** Of the token, the session or the application key. */
  readonly credentialId: string | null
  /** The other half of a key pair; it must not revoke itself. */
  readonly apiKeyId?: string
  /** What a state-changing request with the cookie must repeat; null without a session. */
  readonly csrfToken: string | null
  /** A session without permissions until a second factor is enrolled; see second-factor.ts. */
  readonly mustEnrol?: boolean
}

export type Authentication =
  /** No credentials: 401, unless the operation is public. */
  | { kind: 'none' }
  /** Credentials that do not work, for whatever reason; `csrf` when only the X-CSRF-Token is wrong. All are 403. */
  | { kind: 'bad'; reason?: 'csrf' }
  | { kind: 'ok'; principal: Principal }

/** A person who signed in, not a program with a token or key. */
export function isSession({ method }: Pick<Principal, 'method'>): boolean {
  return method === 'session' || method === 'cookie'
}

/** Of whom several requests share what is given to each caller: a person, whatever they sign in with. */
export function callerKey({ userId, credentialId, kind }: Pick<Principal, 'userId' | 'credentialId' | 'kind'>): string {
  return userId ?? credentialId ?? kind
}

/** The one permission check. `admin` passes everything. */
export function allows(principal: Pick<Principal, 'permissions'>, permission: PermissionName): boolean {
  return principal.permissions.has('admin') || principal.permissions.has(permission)
}

/**
 * The owner's permissions narrowed to the scopes of a key or token. A scope that the owner lacks has no effect, and
 * an administrator lacks none.
 */
export function effectivePermissions(
  owned: readonly PermissionName[],
  scopes: readonly PermissionName[] | null,
): ReadonlySet<PermissionName> {
  const all = new Set(owned)
  if (scopes === null) return all
  return new Set(scopes.filter((scope) => all.has(scope) || all.has('admin')))
}

/** The operator at the command line: whoever can open the database file could change it anyway. */
export function operatorPrincipal(organizationId: OrganizationId): Principal {
  return {
    kind: 'system',
    userId: null,
    organizationId,
    permissions: new Set<PermissionName>(['admin']),
    method: 'cli',
    credentialId: null,
    csrfToken: null,
  }
}
