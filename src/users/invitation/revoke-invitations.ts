import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, recordAudit } from '../../platform/audit/record.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { deleteQueuedMails } from '../mail/store-mails.ts'
import type { Invitation } from './invitation.ts'
import { revokeOpen } from './store-invitations.ts'

/**
 * Part of whatever makes open invitations of users worthless: a newer one, a cancellation, another address, the user
 * being disabled, anonymized or activated by other means. Mails that are still queued are withdrawn.
 */
export async function revokeInvitations(
  tx: Transaction,
  input: {
    organizationId: OrganizationId
    userIds: readonly UserId[]
    actor: AuditActor
    client?: ClientInfo
    now: Micros
  },
): Promise<Invitation[]> {
  const { organizationId, userIds, actor, client, now } = input
  const revoked = await revokeOpen(tx, organizationId, userIds, now)
  await deleteQueuedMails(
    tx,
    revoked.map(({ id }) => id),
  )
  for (const { id, userId } of revoked) {
    const target = { type: 'user_invitations', id }
    const changes = { user: { old: userId } }
    await recordAudit(tx, { organizationId, action: 'invitation.revoked', actor, target, changes, client })
  }
  return revoked
}
