import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'

/** Somebody who signed in, on one device. */
export interface Session {
  id: string
  userId: UserId
  clientAddress: string | null
  userAgent: string | null
  createdAt: Micros
  lastSeenAt: Micros
  /** When a password or second factor was last proved. */
  authenticatedAt: Micros
  expiresAt: Micros
}

/** The one moment at which the token of a session is known. */
export interface StartedSession {
  id: string
  token: string
  csrfToken: string
  expiresAt: Micros
  /** No permissions until a second factor is enrolled; see platform/auth/second-factor.ts. */
  mustEnrol: boolean
}
