/** What this feature keeps about people: how it is erased, and what a person gets to see of it. */
import { blankAudit } from '../platform/audit/blank.ts'
import { type RecordedEvent, streamAudit } from '../platform/audit/list.ts'
import { hashSecret } from '../platform/auth/secrets.ts'
import { type Clock, toRfc3339, toRfc3339OrNull } from '../platform/clock/clock.ts'
import { networkOf } from '../platform/http/connection/client-address.ts'
import { idempotencyData } from '../platform/idempotency/idempotency.ts'
import type { Person, PersonalDataPart } from '../platform/personal-data/personal-data.ts'
import { deleteWindowsOf } from '../platform/rate-limit/store.ts'
import type { Reader, Transaction } from '../platform/storage/database.ts'
import {
  addressesOf,
  closeInvitations,
  deleteCredentialsOf,
  invitationsOf,
  mailsOf,
  removeAllRoles,
  sessionRowsOf,
  signInFacts,
} from './anonymize/store-anonymize.ts'
import { auditEventToWire } from './audit/schema-audit.ts'
import { allOwned } from './credential/store-credentials.ts'
import { deleteMailsOf } from './mail/store-mails.ts'
import { rolesOfUsers } from './role/store-roles.ts'
import { findUser } from './user/store-users.ts'

/**
 * In the order in which they are erased: first what is found by the addresses of the person, then the log, which is
 * searched by its keys, then these.
 */
export function usersPersonalData({ clock }: { clock: Clock }): PersonalDataPart[] {
  return [
    { name: 'rate_limits', erase: forgetCounters },
    { name: 'audit_events', erase: blankAudit, exportOf: auditOf },
    {
      name: 'profile',
      // The row itself is changed by whoever anonymizes, under the guards of that.
      erase: async () => {},
      exportOf: profileOf,
    },
    { name: 'roles', erase: (tx, { id }) => removeAllRoles(tx, id), exportOf: rolesOf },
    { name: 'sign_in', erase: (tx, { id }) => deleteCredentialsOf(tx, id), exportOf: signInOf },
    { name: 'sessions', erase: async () => {}, exportOf: sessionsOf },
    { name: 'application_keys', erase: async () => {}, exportOf: keysOf('application_keys') },
    { name: 'personal_access_tokens', erase: async () => {}, exportOf: keysOf('access_tokens') },
    {
      name: 'invitations',
      erase: (tx, { id, organizationId }) => closeInvitations(tx, organizationId, id, clock.now()),
      exportOf: sentInvitations,
    },
    { name: 'mails', erase: (tx, { id }) => deleteMailsOf(tx, id), exportOf: sentMails },
    idempotencyData,
  ]
}

/** Subjects as rate-rules.ts and public-limits.ts name them. On SQLite they are in memory, for no longer than they count. */
async function forgetCounters(tx: Transaction, { id, organizationId, email }: Person): Promise<void> {
  if (tx.engine === 'sqlite') return
  const networks = [...(await addressesOf(tx, organizationId, id))].map((address) => `ip ${networkOf(address)}`)
  await deleteWindowsOf(tx, [`user ${id}`, `name ${hashSecret(email)}`, ...new Set(networks)])
}

async function profileOf(reader: Reader, { id, organizationId }: Person): Promise<unknown> {
  const user = await findUser(reader, organizationId, id)
  if (user === undefined) return null
  return {
    email: user.email,
    handle: user.handle,
    name: user.name,
    title: user.title,
    status: user.status,
    verified: user.verified,
    service_account: user.serviceAccount,
    created_at: toRfc3339(user.createdAt),
    modified_at: toRfc3339(user.modifiedAt),
    last_login_time: toRfc3339OrNull(user.lastLoginAt),
    allowed_login_methods: user.allowedLoginMethods,
  }
}

async function rolesOf(reader: Reader, { id }: Person): Promise<unknown> {
  const roles = (await rolesOfUsers(reader, [id])).get(id) ?? []
  return roles.map((role) => ({ id: role.id, name: role.name }))
}

async function signInOf(reader: Reader, { id }: Person): Promise<unknown> {
  const facts = await signInFacts(reader, id)
  return {
    password_changed_at: toRfc3339OrNull(facts.passwordChangedAt),
    totp_confirmed_at: toRfc3339OrNull(facts.totpConfirmedAt),
    recovery_codes_left: facts.recoveryCodesLeft,
  }
}

async function sessionsOf(reader: Reader, { id }: Person): Promise<unknown> {
  const rows = await sessionRowsOf(reader, id)
  return rows.map((row) => ({
    ...row,
    created_at: toRfc3339(row.created_at),
    last_seen_at: toRfc3339(row.last_seen_at),
    expires_at: toRfc3339(row.expires_at),
  }))
}

function keysOf(table: 'application_keys' | 'access_tokens') {
  return async (reader: Reader, { id, organizationId }: Person): Promise<unknown> => {
    const keys = await allOwned(reader, table, { organizationId, userId: id })
    return keys.map((key) => ({
      id: key.id,
      name: key.name,
      last4: key.last4,
      scopes: key.scopes,
      created_at: toRfc3339(key.createdAt),
      last_used_at: toRfc3339OrNull(key.lastUsedAt),
    }))
  }
}

async function sentInvitations(reader: Reader, { id }: Person): Promise<unknown> {
  const rows = await invitationsOf(reader, id)
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    invited_by: row.invited_by,
    delivery: row.delivery,
    created_at: toRfc3339(row.created_at),
    expires_at: toRfc3339(row.expires_at),
    accepted_at: toRfc3339OrNull(row.accepted_at),
  }))
}

async function sentMails(reader: Reader, { id }: Person): Promise<unknown> {
  const rows = await mailsOf(reader, id)
  return rows.map((row) => ({
    id: row.id,
    purpose: row.purpose,
    recipient: row.recipient,
    state: row.state,
    created_at: toRfc3339(row.created_at),
    changed_at: toRfc3339(row.changed_at),
  }))
}

/**
 * What the person did, then what others did to it: where those others were is not the person's to know, nor what somebody
 * else was called whom the person changed.
 */
async function* auditOf(reader: Reader, { id, organizationId }: Person): AsyncGenerator<unknown> {
  for await (const event of streamAudit(reader, organizationId, { actorId: id })) {
    yield auditEventToWire(event.target?.id === id ? event : { ...event, changes: {} })
  }
  for await (const event of streamAudit(reader, organizationId, { targetId: id })) {
    if (event.actor.id !== id) yield auditEventToWire(withoutClient(event))
  }
}

function withoutClient(event: RecordedEvent): RecordedEvent {
  return { ...event, client: { address: null, userAgent: null, requestId: null } }
}
