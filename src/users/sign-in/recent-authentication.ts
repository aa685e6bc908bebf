import type { Principal } from '../../platform/auth/principal.ts'
import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { findSessionById } from './store-sessions.ts'

const MINUTES = 10

/**
 * What could take an account over needs a sign-in of the last ten minutes when it is asked for in a session: a session
 * may be left open or stolen. Tokens and keys are made for programs, which cannot sign in; so to make one needs it, too.
 */
export async function requireRecentSignIn(reader: Reader, principal: Principal, now: Micros): Promise<void> {
  if (principal.method !== 'session' && principal.method !== 'cookie') return
  if (principal.userId === null || principal.credentialId === null) return
  const session = await findSessionById(reader, principal.userId, principal.credentialId)
  if (session !== undefined && now - session.authenticatedAt <= MINUTES * 60 * MICROS_PER_SECOND) return
  throw new AppError('permission_denied', `Sign in again: this needs a sign-in within the last ${MINUTES} minutes`)
}
