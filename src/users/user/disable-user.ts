import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { actor } from '../../platform/audit/record.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { deleteAccessTokensOf, deleteSessionsOf } from '../credential/store-credentials.ts'
import { keepAnAdministrator, refuseAgainstAdministrator, refuseOwnAccount } from '../guards.ts'
import { revokeInvitations } from '../invitation/revoke-invitations.ts'
import { dropLinks } from '../invitation/user-links.ts'
import type { User } from './user.ts'

export async function refuseToDisable(tx: Transaction, principal: Principal, user: User): Promise<void> {
  refuseOwnAccount(principal, user, 'disable')
  await keepAnAdministrator(tx, user, 'disabled')
  await refuseAgainstAdministrator(tx, principal, user, 'disable')
}

/** Application keys only sleep until the user is enabled again; every other way in is gone for good. */
export async function revokeAccess(
  tx: Transaction,
  principal: Principal,
  user: User,
  now: Micros,
  client?: ClientInfo,
): Promise<void> {
  await deleteSessionsOf(tx, user.id)
  await deleteAccessTokensOf(tx, user.id)
  await dropLinks(tx, user.id, ['password_reset', 'setup'])
  const { organizationId } = user
  await revokeInvitations(tx, { organizationId, userIds: [user.id], actor: actor(principal), client, now })
}
