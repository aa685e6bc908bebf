import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, recordAudit } from '../../platform/audit/record.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { MailOutbox, type MailOutboxOptions } from '../mail/mail-outbox.ts'
import { findMailUser } from '../mail/store-mails.ts'
import { updateUser } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import { revokeInvitations } from './revoke-invitations.ts'
import { dropLinks, takeLink } from './user-links.ts'

export interface EmailChange {
  before: User
  /** As stored, with `verified` already false. */
  after: User
  actor: AuditActor
  client?: ClientInfo
}

/**
 * What follows from another address, in the transaction that changes it: whatever was sent to the old one stops
 * working, the new one is asked for proof, and the old one is told.
 */
export function onEmailChanged(deps: MailOutboxOptions) {
  const outbox = new MailOutbox(deps)
  return async function emailChanged(tx: Transaction, { before, after, actor, client }: EmailChange): Promise<void> {
    // The address of a service account is a contact, not a way in.
    if (before.email === after.email || after.serviceAccount) return
    const { id, organizationId } = after
    await dropLinks(tx, id, ['password_reset', 'email_verification'])
    await revokeInvitations(tx, { organizationId, userIds: [id], actor, client, now: deps.clock.now() })
    await outbox.queueEmailVerification(tx, after)
    await outbox.queueEmailChanged(tx, after, before.email)
  }
}

/** By the token of the link that went to the new address. */
export async function confirmEmail(
  { db, clock }: { db: Database; clock: Clock },
  input: { token: string },
  client?: ClientInfo,
): Promise<User> {
  return db.write(async (tx) => {
    const now = clock.now()
    const link = await takeLink(tx, 'email_verification', input.token, now)
    const user = link && (await findMailUser(tx, link.userId))
    if (!user || user.email !== link.email || user.status === 'Disabled' || user.anonymizedAt !== null) {
      throw new AppError('not_found', 'Verification is not valid')
    }
    if (user.verified) return user
    const verified: User = { ...user, verified: true, modifiedAt: now }
    await updateUser(tx, user, verified)
    await recordAudit(tx, {
      organizationId: user.organizationId,
      action: 'user.updated',
      actor: { kind: 'user', id: user.id, method: 'link', credentialId: null },
      target: { type: 'users', id: user.id },
      changes: { verified: { old: false, new: true } },
      client,
    })
    return verified
  })
}
