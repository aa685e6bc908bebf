import assert from 'node:assert/strict'
import { firstStart } from '../../src/first-start.ts'
import { type Authenticator, DatabaseAuthenticator } from '../../src/platform/auth/authenticator.ts'
import type { CredentialSource } from '../../src/platform/auth/credentials.ts'
import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import { type OrganizationId, operatorPrincipal, type UserId } from '../../src/platform/auth/principal.ts'
import { mintCsrfToken, mintSessionToken } from '../../src/platform/auth/secrets.ts'
import { findFirstAdministrator } from '../../src/platform/auth/store.ts'
import { type Clock, MICROS_PER_MS, SystemClock } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { CredentialService, UserService } from '../../src/users/index.ts'
import { credentialSource } from './credential-source.ts'
import { silentLogger } from './silent-logger.ts'
import { tempDir } from './temp-dir.ts'

export const ADMIN = {
  admin_email: 'admin@example.org',
  admin_token: 'test-admin-token-0123456789-abcdefghij',
  api_key: '0123456789abcdef0123456789abcdef',
  application_key: '0123456789abcdef0123456789abcdef01234567',
}

export function firstStartSettings(auth: Record<string, string | null> = ADMIN, dataDir = tempDir(), namespaces = {}) {
  return {
    auth: { admin_email: 'admin@example.org', admin_token: null, api_key: null, application_key: null, ...auth },
    storage: { data_dir: dataDir },
    callbacks: { namespaces },
  } as Parameters<typeof firstStart>[0]['settings']
}

export interface Identity {
  db: Database
  clock: Clock
  changes: IdentityChanges
  organizationId: OrganizationId
  administratorId: UserId
  operator: ReturnType<typeof operatorPrincipal>
  users: UserService
  credentials: CredentialService
}

/** A database after its first start, with the services over it. */
export async function installed(db: Database, clock: Clock = new SystemClock()): Promise<Identity> {
  await firstStart({ db, clock, log: silentLogger(), settings: firstStartSettings(), mode: 'serve' })
  const [administrator] = await db.run(findFirstAdministrator, {})
  if (administrator === undefined) throw new Error('The first start made no administrator')
  const changes = new IdentityChanges(db)
  const settings = { password_min_length: 12, allowed_email_domains: [] }
  return {
    db,
    clock,
    changes,
    organizationId: administrator.organization_id,
    administratorId: administrator.user_id,
    operator: operatorPrincipal(administrator.organization_id),
    users: new UserService({ db, clock, changes, settings }),
    credentials: new CredentialService({ db, clock, changes }),
  }
}

export interface AuthenticatorChoice {
  mode?: 'dev' | 'serve'
  sessionIdleMs?: number
  sessionMaxMs?: number
}

export function authenticatorOf(
  { db, clock, changes }: Pick<Identity, 'db' | 'clock' | 'changes'>,
  choice: AuthenticatorChoice = {},
) {
  return new DatabaseAuthenticator({
    db,
    clock,
    changes,
    log: silentLogger(),
    mode: choice.mode ?? 'serve',
    sessionIdleMs: choice.sessionIdleMs ?? 3_600_000,
    sessionMaxMs: choice.sessionMaxMs ?? 86_400_000,
  })
}

/** A request as the authenticator sees it, from this machine unless said otherwise. */
export function requestWith(headers: Record<string, string>, method = 'GET', remoteAddress = '127.0.0.1') {
  const connection = { remoteAddress, method, serverOrigin: 'http://localhost:4040' }
  return credentialSource({ host: 'localhost:4040', ...headers }, connection)
}

export function bearer(token: string) {
  return requestWith({ authorization: `Bearer ${token}` })
}

export async function kindOf(authenticator: Authenticator, source: CredentialSource): Promise<string> {
  return (await authenticator.authenticate(source)).kind
}

export async function principalOf(authenticator: Authenticator, source: CredentialSource) {
  const answer = await authenticator.authenticate(source)
  assert.ok(answer.kind === 'ok', `expected ok, got ${answer.kind}`)
  return answer.principal
}

/** A signed-in console of the first administrator. */
export async function session({ db, clock, administratorId }: Identity, lifeMs = 86_400_000) {
  const secret = mintSessionToken()
  const now = clock.now()
  const row = {
    id: newId<'Session'>(),
    user_id: administratorId,
    secret_hash: secret.hash,
    csrf_token: mintCsrfToken(),
    client_address: null,
    user_agent: null,
    created_at: now,
    last_seen_at: now,
    authenticated_at: now,
    expires_at: now + lifeMs * MICROS_PER_MS,
  }
  await db.write((tx) => tx.query.insertInto('sessions').values(row).execute())
  return { ...row, token: secret.plain, cookie: `commonplace_session=${secret.plain}` }
}

/** Counts what reaches the database. */
export function counted(db: Database): { db: Database; statements: () => number } {
  let statements = 0
  const proxy = new Proxy(db, {
    get(target, name) {
      if (name === 'run' || name === 'query' || name === 'read' || name === 'write') statements++
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { db: proxy, statements: () => statements }
}
