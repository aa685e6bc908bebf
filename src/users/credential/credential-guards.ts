import type { PermissionName } from '../../platform/auth/permissions.ts'
import { allows, effectivePermissions, type Principal, type UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { refuseEscalation } from '../guards.ts'
import { requireUser } from '../look-up.ts'
import { permissionsOfUser } from '../role/store-roles.ts'
import { requireRecentSignIn } from '../sign-in/recent-authentication.ts'
import type { ApplicationKey } from './credential.ts'

type Scopes = readonly PermissionName[] | null

/** A key outlives the session it is made in, and needs no sign-in for what a session needs one for. */
export async function judgeNewKey(tx: Transaction, principal: Principal, key: ApplicationKey): Promise<void> {
  const { userId, scopes, createdAt } = key
  await refuseDisabledOwner(tx, principal, userId)
  if (userId === principal.userId) await requireRecentSignIn(tx, principal, createdAt)
  await refuseWiderKey(tx, principal, userId, scopes)
}

/** A key that exists is as good as a new one to whoever holds it and widens it. */
export async function judgeScopes(
  tx: Transaction,
  principal: Principal,
  { userId, scopes: had }: ApplicationKey,
  scopes: Scopes,
  now: Micros,
): Promise<void> {
  if (userId === principal.userId && isWider(scopes, had)) await requireRecentSignIn(tx, principal, now)
  await refuseWiderKey(tx, principal, userId, scopes, had)
}

function isWider(scopes: Scopes, had: Scopes): boolean {
  if (scopes === null || had === null) return had !== null
  return scopes.some((name) => !had.includes(name))
}

/**
 * Nobody makes a key that can do more than its maker: a narrowed token must not mint a full one, and whoever manages
 * service accounts must not act through an administrator among them. `had` are the scopes of a key that exists already.
 */
async function refuseWiderKey(
  reader: Reader,
  principal: Principal,
  ownerId: UserId,
  scopes: Scopes,
  had?: Scopes,
): Promise<void> {
  if (allows(principal, 'admin')) return
  const owned = await permissionsOfUser(reader, ownerId)
  const before = had === undefined ? new Set<PermissionName>() : effectivePermissions(owned, had)
  refuseEscalation(
    principal,
    [...effectivePermissions(owned, scopes)].filter((name) => !before.has(name)),
  )
}

async function refuseDisabledOwner(tx: Transaction, principal: Principal, userId: UserId): Promise<void> {
  const owner = await requireUser(tx, principal, userId)
  if (owner.status === 'Disabled') throw new AppError('invalid_argument', `User ${userId} is disabled`)
}
