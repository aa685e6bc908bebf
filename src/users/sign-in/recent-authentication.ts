import { allows, isSession, type Principal } from '../../platform/auth/principal.ts'
import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { permissionsOfUser } from '../role/store-roles.ts'
import { findSessionById } from './store-sessions.ts'

const MINUTES = 10
const MINUTE = 60 * MICROS_PER_SECOND

/**
 * What could take an account over needs a sign-in of the last ten minutes when it is asked for in a session: a session
 * may be left open or stolen. Tokens and keys are made for programs, which cannot sign in; so to make one needs it, too.
 */
export async function requireRecentSignIn(reader: Reader, principal: Principal, now: Micros): Promise<void> {
  if (!isSession(principal)) return
  if (principal.userId === null || principal.credentialId === null) return
  const session = await findSessionById(reader, principal.userId, principal.credentialId)
  const age = session === undefined ? Number.POSITIVE_INFINITY : now - session.authenticatedAt
  // One that lies further ahead than a running server's clock goes back is from before it was set: how long ago, nobody can tell.
  if (age >= -MINUTE && age <= MINUTES * MINUTE) return
  throw new AppError('permission_denied', `Sign in again: this needs a sign-in within the last ${MINUTES} minutes`)
}

/**
 * With the address goes the way to a new password, and behind that lies all that its owner may do: a token or key that was
 * made for less does not touch them. In a session it is the person.
 */
export async function refuseNarrowedKey(reader: Reader, principal: Principal): Promise<void> {
  if (principal.userId === null || isSession(principal)) return
  const owned = await permissionsOfUser(reader, principal.userId)
  const lacking = owned.find((name) => !allows(principal, name))
  if (lacking === undefined) return
  throw new AppError(
    'permission_denied',
    `A token or key that lacks a permission of its owner cannot change the owner's email address or second factor: ${lacking}`,
  )
}

/** For what the account can be taken over by, in a session and by a token or key. */
export async function requireOwner(reader: Reader, principal: Principal, now: Micros): Promise<void> {
  await requireRecentSignIn(reader, principal, now)
  await refuseNarrowedKey(reader, principal)
}
