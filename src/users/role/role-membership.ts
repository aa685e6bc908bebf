/** Who has which role: given and taken in the transaction of whoever decides it. */

import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { keepAnAdministrator, refuseEscalation, refuseToTakeAdmin } from '../guards.ts'
import type { Role, User } from '../user/user.ts'
import { addUserRole, permissionsOfRole, removeUserRole } from './store-roles.ts'

export interface Membership {
  principal: Principal
  user: User
  role: Role
  client?: ClientInfo
}

interface MembershipOptions {
  clock: Clock
  changes: IdentityChanges
}

/** False when the user had the role already. */
export async function giveRole(
  tx: Transaction,
  { principal, user, role, client }: Membership,
  { clock, changes }: MembershipOptions,
): Promise<boolean> {
  refuseEscalation(principal, await permissionsOfRole(tx, role.id))
  if (!(await addUserRole(tx, user.id, role.id, clock.now()))) return false
  const target = { type: 'roles', id: role.id }
  await auditChange(tx, principal, { action: 'role.user_added', target, changes: { user: { new: user.id } } }, client)
  changes.announce(tx)
  return true
}

/** False when the user did not have the role. */
export async function takeRole(
  tx: Transaction,
  { principal, user, role, client }: Membership,
  { changes }: Pick<MembershipOptions, 'changes'>,
): Promise<boolean> {
  if (role.managed === 'admin') await keepAnAdministrator(tx, user, 'removed')
  refuseToTakeAdmin(principal, await permissionsOfRole(tx, role.id))
  if (!(await removeUserRole(tx, user.id, role.id))) return false
  const target = { type: 'roles', id: role.id }
  await auditChange(tx, principal, { action: 'role.user_removed', target, changes: { user: { old: user.id } } }, client)
  changes.announce(tx)
  return true
}
