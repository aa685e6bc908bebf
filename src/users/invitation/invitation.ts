import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { InvitationId, UserInvitationsTable } from '../tables.ts'

export interface Invitation {
  id: InvitationId
  organizationId: OrganizationId
  userId: UserId
  /** As stored; whether it has expired depends on when it is asked, see `statusOf`. */
  state: UserInvitationsTable['state']
  invitedBy: UserId | null
  delivery: UserInvitationsTable['delivery']
  createdAt: Micros
  expiresAt: Micros
  acceptedAt: Micros | null
}

export const INVITATION_STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]

export function statusOf({ state, expiresAt }: Invitation, now: Micros): InvitationStatus {
  return state === 'pending' && expiresAt <= now ? 'expired' : state
}

/** Can still be accepted. */
export function isOpen(invitation: Invitation, now: Micros): boolean {
  return statusOf(invitation, now) === 'pending'
}
