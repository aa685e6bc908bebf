import type { OrganizationId, UserId } from '../platform/auth/principal.ts'
import type { Micros } from '../platform/clock/clock.ts'
import type { Id } from '../platform/ids/uuid.ts'

export type InvitationId = Id<'Invitation'>
export type MailId = Id<'Mail'>

export interface UserInvitationsTable {
  id: InvitationId
  organization_id: OrganizationId
  user_id: UserId
  state: 'pending' | 'accepted' | 'revoked'
  /** Null once it can no longer be accepted. */
  token_hash: string | null
  invited_by: UserId | null
  delivery: 'queued' | 'sent' | 'failed' | 'disabled'
  created_at: Micros
  expires_at: Micros
  accepted_at: Micros | null
}

export interface UserTotpTable {
  user_id: UserId
  /** Encrypted. */
  secret: string
  confirmed_at: Micros | null
  /** The newest time step that was used: a code works once. */
  last_step: number
  created_at: Micros
}

export interface RecoveryCodesTable {
  user_id: UserId
  code_hash: string
  used_at: Micros | null
}

export interface UserLinksTable {
  id: string
  user_id: UserId
  purpose: 'password_reset' | 'email_verification' | 'setup'
  token_hash: string
  /** The address that is proved by following the link. */
  email: string | null
  created_at: Micros
  expires_at: Micros
}

export interface MailsTable {
  id: MailId
  user_id: UserId
  purpose: 'invitation' | 'password_reset' | 'email_verification' | 'email_changed'
  /** The invitation a mail is about. */
  subject_id: string | null
  /** Empty once the mail has left, or never will. */
  recipient: string
  state: 'queued' | 'sent' | 'failed'
  last_error: string | null
  created_at: Micros
  changed_at: Micros
}

declare module '../platform/storage/tables.ts' {
  interface Tables {
    user_invitations: UserInvitationsTable
    user_totp: UserTotpTable
    recovery_codes: RecoveryCodesTable
    user_links: UserLinksTable
    mails: MailsTable
  }
}
