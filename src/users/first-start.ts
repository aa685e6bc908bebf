import { recordAudit, SYSTEM_ACTOR } from '../platform/audit/record.ts'
import { MANAGED_ROLES, type RoleId } from '../platform/auth/managed-roles.ts'
import type { OrganizationId, UserId } from '../platform/auth/principal.ts'
import {
  hashSecret,
  keepAccessToken,
  keepSecret,
  type MintedSecret,
  type MintedToken,
  mintAccessToken,
  mintApiKey,
  mintApplicationKey,
  mintPublicId,
  SESSION_TOKEN,
} from '../platform/auth/secrets.ts'
import type { Micros } from '../platform/clock/clock.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { newId } from '../platform/ids/uuid.ts'
import type { Reader, Transaction } from '../platform/storage/database.ts'
import { parseEmail } from '../platform/text/email.ts'
import { newAccessToken, newApiKey, newApplicationKey } from './credential/credential.ts'
import { insertApiKey } from './credential/store-api-keys.ts'
import { insertAccessToken, insertApplicationKey, isKnownSecret } from './credential/store-credentials.ts'
import { introduceCatalogue } from './role/catalogue-sync.ts'
import { addUserRole, insertRole } from './role/store-roles.ts'
import { claimInstallation, insertOrganization } from './store-installation.ts'
import { insertUser } from './user/store-users.ts'

export interface FirstStartSettings {
  admin_email: string
  admin_token?: string | null
  api_key?: string | null
  application_key?: string | null
}

/** Everything about the first administrator that is decided before the transaction. */
export interface FirstAdministrator {
  email: string
  token: MintedToken
  apiKey: MintedSecret
  applicationKey: MintedSecret
  /** What nobody but us knows, by the name of the setting that would have given it. */
  madeUp: Record<string, string>
}

export function planFirstAdministrator(settings: FirstStartSettings): FirstAdministrator {
  const email = parseEmail(settings.admin_email)
  if (email === undefined) {
    throw new AppError('invalid_argument', 'auth.admin_email is not a valid email address, such as admin@example.org')
  }
  if (settings.admin_token && SESSION_TOKEN.test(settings.admin_token)) {
    throw new AppError('invalid_argument', 'auth.admin_token looks like a session token (ses_…): choose another one')
  }
  const token = settings.admin_token ? keepAccessToken(settings.admin_token) : mintAccessToken()
  const apiKey = settings.api_key ? keepSecret(settings.api_key) : mintApiKey()
  const applicationKey = settings.application_key ? keepSecret(settings.application_key) : mintApplicationKey()
  const madeUp: Record<string, string> = {}
  if (!settings.admin_token) madeUp.admin_token = token.plain
  if (!settings.api_key) madeUp.api_key = apiKey.plain
  if (!settings.application_key) madeUp.application_key = applicationKey.plain
  return { email, token, apiKey, applicationKey, madeUp }
}

/**
 * The organization, the catalogue, the managed roles and the first administrator with a token and a key pair. False,
 * and nothing is done, when another process was faster.
 */
export async function createIdentity(
  tx: Transaction,
  installationId: string,
  administrator: FirstAdministrator,
  now: Micros,
): Promise<boolean> {
  if (!(await claimInstallation(tx, installationId, now))) return false
  const organizationId = await createOrganization(tx, now)
  const adminRoleId = await createManagedRoles(tx, organizationId, now)
  await introduceCatalogue(tx, now)
  const userId = await createAdministrator(tx, organizationId, administrator.email, now)
  await addUserRole(tx, userId, adminRoleId, now)
  const owned = { userId, name: 'First administrator', scopes: null, now }
  const token = newAccessToken(owned, null, administrator.token)
  const applicationKey = newApplicationKey(owned, administrator.applicationKey)
  const apiKey = newApiKey({ organizationId, name: owned.name, createdBy: userId, now }, administrator.apiKey)
  await insertAccessToken(tx, token, administrator.token)
  await insertApplicationKey(tx, applicationKey, administrator.applicationKey)
  await insertApiKey(tx, apiKey, administrator.apiKey)
  for (const [action, type, id] of [
    ['user.created', 'users', userId],
    ['token.created', 'personal_access_tokens', token.id],
    ['key.created', 'application_keys', applicationKey.id],
    ['key.created', 'api_keys', apiKey.id],
  ] as const) {
    await recordAudit(tx, { organizationId, action, actor: SYSTEM_ACTOR, target: { type, id }, at: now })
  }
  return true
}

async function createOrganization(tx: Transaction, now: Micros): Promise<OrganizationId> {
  const id: OrganizationId = newId()
  await insertOrganization(tx, {
    id,
    public_id: mintPublicId(),
    name: 'Commonplace',
    description: null,
    disabled: 0,
    sharing: 'none',
    created_at: now,
    modified_at: now,
  })
  return id
}

async function createManagedRoles(tx: Transaction, organizationId: OrganizationId, now: Micros): Promise<RoleId> {
  const ids = new Map<string, RoleId>()
  for (const { key, name } of MANAGED_ROLES) {
    const id: RoleId = newId()
    ids.set(key, id)
    const role = {
      id,
      organizationId,
      name,
      managed: key,
      receivesPermissionsFrom: [],
      createdAt: now,
      modifiedAt: now,
    }
    await insertRole(tx, role)
  }
  return ids.get('admin') as RoleId
}

async function createAdministrator(
  tx: Transaction,
  organizationId: OrganizationId,
  email: string,
  now: Micros,
): Promise<UserId> {
  const id: UserId = newId()
  await insertUser(tx, {
    id,
    organizationId,
    email,
    handle: email,
    name: null,
    title: null,
    status: 'Active',
    verified: true,
    serviceAccount: false,
    anonymizedAt: null,
    lastLoginAt: null,
    allowedLoginMethods: [],
    createdAt: now,
    modifiedAt: now,
  })
  return id
}

/** Which secrets of the settings open nothing: they count on the first start only, and were changed since. */
export async function ignoredSecrets(reader: Reader, settings: FirstStartSettings): Promise<string[]> {
  const ignored: string[] = []
  for (const [setting, table] of [
    ['admin_token', 'access_tokens'],
    ['api_key', 'api_keys'],
    ['application_key', 'application_keys'],
  ] as const) {
    const given = settings[setting]
    if (given && !(await isKnownSecret(reader, table, hashSecret(given)))) ignored.push(setting)
  }
  return ignored
}
