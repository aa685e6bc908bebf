/** What keeps an organization from locking itself out, and a caller from lifting itself up. */
import type { PermissionName } from '../platform/auth/permissions.ts'
import { allows, type Principal, type UserId } from '../platform/auth/principal.ts'
import { AppError } from '../platform/errors/app-error.ts'
import type { Reader, Transaction } from '../platform/storage/database.ts'
import { permissionsOfRoles, rolesOfUsers, someActiveAdministrators } from './role/store-roles.ts'
import { findUser } from './user/store-users.ts'
import type { User } from './user/user.ts'

/**
 * At least one Active person stays in the admin role. Two administrators who disable each other at the same moment
 * both read this list, so the transaction must be serializable: one of them is run again and then refused.
 */
export async function keepAnAdministrator(
  tx: Transaction,
  user: Pick<User, 'id' | 'organizationId'>,
  verb: 'disabled' | 'anonymized' | 'removed',
): Promise<void> {
  const administrators = await someActiveAdministrators(tx, user.organizationId)
  if (administrators.length === 1 && administrators[0] === user.id) {
    throw new AppError('permission_denied', `The last administrator cannot be ${verb}`)
  }
}

export function refuseOwnAccount(principal: Principal, user: Pick<User, 'id'>, verb: 'disable' | 'anonymize'): void {
  if (principal.userId === user.id) {
    throw new AppError('permission_denied', `You cannot ${verb} your own account`)
  }
}

/** Whoever gives a permission must have it. */
export function refuseEscalation(principal: Principal, granted: readonly PermissionName[]): void {
  const lacking = granted.find((name) => !allows(principal, name))
  if (lacking !== undefined) {
    throw new AppError('permission_denied', `You cannot grant a permission you do not have: ${lacking}`)
  }
}

/**
 * The user, for a caller who may change it: `user_access_manage` for everybody, `service_account_write` for service
 * accounts. Whoever lacks the first and cannot read users does not learn whether there is such a user.
 */
export async function requireManager(tx: Transaction, principal: Principal, id: UserId): Promise<User> {
  const user = await findUser(tx, principal.organizationId, id)
  const isKnowing = allows(principal, 'user_access_manage') || allows(principal, 'user_access_read')
  if (user === undefined && isKnowing) throw new AppError('not_found', `User ${id} not found`)
  if (user !== undefined && allows(principal, 'user_access_manage')) return user
  if (user?.serviceAccount === true && allows(principal, 'service_account_write')) return user
  throw new AppError('permission_denied', 'Missing permission: user_access_manage')
}

/**
 * With the address goes the way to a new password, and with that all that the user may do: whoever redirects it must have
 * that already. The address of a service account is a contact and leads nowhere; but those of administrators are theirs.
 */
export async function refuseForeignEmail(tx: Transaction, principal: Principal, user: User): Promise<void> {
  const lacking = (await permissionsLacked(tx, principal, [user.id])).get(user.id) ?? []
  if (lacking.includes('admin')) {
    throw new AppError('permission_denied', 'You cannot change the email address of an administrator')
  }
  if (lacking.length > 0 && !user.serviceAccount) {
    const text = 'You cannot change the email address of somebody with a permission that you do not have'
    throw new AppError('permission_denied', `${text}: ${lacking[0]}`)
  }
}

/**
 * Who has less than `admin` does nothing against those who have it: a manager could put them out one after the other, or take
 * away what their accounts are kept by. What is said of the last administrator, or of one's own account, is said first.
 */
export async function refuseAgainstAdministrator(
  reader: Reader,
  principal: Principal,
  user: Pick<User, 'id'>,
  verb: 'change' | 'disable' | 'anonymize' | 'end sessions of' | 'reset the second factor of',
): Promise<void> {
  if (principal.userId === user.id) return
  const lacking = (await permissionsLacked(reader, principal, [user.id])).get(user.id) ?? []
  if (lacking.includes('admin')) throw new AppError('permission_denied', `You cannot ${verb} an administrator`)
}

/** Nor does it take that permission from anybody: not the role from its member, and not the permission from a role. */
export function refuseToTakeAdmin(principal: Principal, taken: readonly PermissionName[]): void {
  if (taken.includes('admin') && !allows(principal, 'admin')) {
    throw new AppError('permission_denied', 'You cannot take away a permission you do not have: admin')
  }
}

/** What each of them may do through its roles, and the caller may not. */
export async function permissionsLacked(
  reader: Reader,
  principal: Principal,
  userIds: readonly UserId[],
): Promise<Map<UserId, PermissionName[]>> {
  if (allows(principal, 'admin')) return new Map(userIds.map((id) => [id, []]))
  const roles = await rolesOfUsers(reader, [...userIds])
  const roleIds = new Set([...roles.values()].flatMap((held) => held.map(({ id }) => id)))
  const permissions = await permissionsOfRoles(reader, [...roleIds])
  const held = (id: UserId) => (roles.get(id) ?? []).flatMap((role) => permissions.get(role.id) ?? [])
  return new Map(userIds.map((id) => [id, held(id).filter((name) => !allows(principal, name))]))
}
