import { streamAudit } from '../../platform/audit/list.ts'
import '../../platform/audit/store.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../sign-in/store-passwords.ts'
import { revokeOpen } from '../invitation/store-invitations.ts'
import { activeAdministrators, removeUserRole } from '../role/store-roles.ts'
import '../tables.ts'
import type { MailsTable, UserInvitationsTable } from '../tables.ts'

/** Everything that a user could sign in or call with. */
const CREDENTIALS = [
  'user_passwords',
  'user_totp',
  'recovery_codes',
  'user_links',
  'sessions',
  'access_tokens',
  'application_keys',
] as const

export async function deleteCredentialsOf(tx: Transaction, userId: UserId): Promise<void> {
  for (const table of CREDENTIALS) await tx.query.deleteFrom(table).where('user_id', '=', userId).execute()
}

export async function removeAllRoles(tx: Transaction, userId: UserId): Promise<void> {
  const held = await tx.query.selectFrom('user_roles').select('role_id').where('user_id', '=', userId).execute()
  for (const { role_id: roleId } of held) await removeUserRole(tx, userId, roleId)
}

/** The rows stay; what is open is revoked, and no token of any of them works. */
export async function closeInvitations(
  tx: Transaction,
  organizationId: OrganizationId,
  userId: UserId,
  now: Micros,
): Promise<void> {
  await revokeOpen(tx, organizationId, [userId], now)
  await tx.query
    .updateTable('user_invitations')
    .set({ token_hash: null })
    .where('user_id', '=', userId)
    .where('token_hash', 'is not', null)
    .execute()
}

/** Whether an Active person other than these holds the admin role. */
export async function hasAdministratorBeside(
  reader: Reader,
  organizationId: OrganizationId,
  excluded: readonly UserId[],
): Promise<boolean> {
  const { query } = await activeAdministrators(reader, organizationId)
  const row = await query
    .where('users.id', 'not in', [...excluded])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function isActiveAdministrator(
  reader: Reader,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<boolean> {
  const { query } = await activeAdministrators(reader, organizationId)
  const row = await query.where('users.id', '=', userId).executeTakeFirst()
  return row !== undefined
}

/** Where the person was seen: in its sessions, and when it did something. */
export async function addressesOf(
  reader: Reader,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<Set<string>> {
  const rows = await reader.query
    .selectFrom('sessions')
    .select('client_address')
    .where('user_id', '=', userId)
    .union(
      reader.query
        .selectFrom('audit_events')
        .select('client_address')
        .where('organization_id', '=', organizationId)
        .where('actor_id', '=', userId),
    )
    .execute()
  return new Set(rows.flatMap((row) => row.client_address ?? []))
}

/** Both sides of each change of the address; blanked events know none. */
export async function changedEmailsOf(
  reader: Reader,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<Set<string>> {
  const emails = new Set<string>()
  const filter = { action: 'user.email_changed', targetId: userId }
  for await (const { changes } of streamAudit(reader, organizationId, filter)) {
    const { email } = changes as { email?: { old?: string; new?: string } }
    for (const address of [email?.old ?? [], email?.new ?? []].flat()) emails.add(address)
  }
  return emails
}

export async function invitationsOf(
  reader: Reader,
  userId: UserId,
): Promise<Omit<UserInvitationsTable, 'token_hash'>[]> {
  return reader.query
    .selectFrom('user_invitations')
    .select(['id', 'organization_id', 'user_id', 'state', 'invited_by', 'delivery'])
    .select(['created_at', 'expires_at', 'accepted_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
}

export async function mailsOf(reader: Reader, userId: UserId): Promise<MailsTable[]> {
  return reader.query.selectFrom('mails').selectAll().where('user_id', '=', userId).orderBy('created_at').execute()
}

export interface SignInFacts {
  passwordChangedAt: Micros | null
  totpConfirmedAt: Micros | null
  recoveryCodesLeft: number
}

export async function signInFacts(reader: Reader, userId: UserId): Promise<SignInFacts> {
  const password = await reader.query
    .selectFrom('user_passwords')
    .select('changed_at')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const totp = await reader.query
    .selectFrom('user_totp')
    .select('confirmed_at')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const codes = await reader.query
    .selectFrom('recovery_codes')
    .select('code_hash')
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .execute()
  return {
    passwordChangedAt: password?.changed_at ?? null,
    totpConfirmedAt: totp?.confirmed_at ?? null,
    recoveryCodesLeft: codes.length,
  }
}

/** All of them, also those that have ended and wait to be purged. */
export async function sessionRowsOf(reader: Reader, userId: UserId) {
  return reader.query
    .selectFrom('sessions')
    .select(['id', 'created_at', 'last_seen_at', 'expires_at', 'client_address', 'user_agent'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
}
