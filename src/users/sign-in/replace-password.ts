import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, recordAudit } from '../../platform/audit/record.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { dropLinks } from '../invitation/user-links.ts'
import type { User } from '../user/user.ts'
import { setPasswordHash } from './store-passwords.ts'

/** Part of whatever gives a user another password. Which sessions end with it is the caller's to say. */
export async function replacePassword(
  tx: Transaction,
  user: Pick<User, 'id' | 'organizationId'>,
  { hash, by, now }: { hash: string; by: AuditActor; now: Micros },
  client?: ClientInfo,
): Promise<void> {
  const { id, organizationId } = user
  await setPasswordHash(tx, id, hash, now)
  // Whoever holds an older link does not get another word.
  await dropLinks(tx, id, ['password_reset', 'setup'])
  // That it changed is all that may be known of it.
  await recordAudit(tx, {
    organizationId,
    action: 'user.updated',
    actor: by,
    target: { type: 'passwords', id },
    client,
  })
}
