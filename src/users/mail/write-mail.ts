/** Turns a queued mail into its text, at the moment of sending: only then are its names right and its token made. */
import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { isOpen } from '../invitation/invitation.ts'
import { findInvitation, setInvitationToken } from '../invitation/store-invitations.ts'
import { linkTokenHash, mintLink, mintLinkToken } from '../invitation/user-links.ts'
import type { InvitationId } from '../tables.ts'
import { findOrganization } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import {
  emailChangedText,
  emailVerificationText,
  invitationText,
  type MailText,
  type Organization,
  passwordResetText,
} from './mail-texts.ts'
import { findMailUser, type QueuedMail } from './store-mails.ts'

const PASSWORD_RESET_MS = 3_600_000
const EMAIL_VERIFICATION_MS = 48 * 3_600_000

interface Context {
  user: User
  organization: Organization
  baseUrl: string
  now: Micros
}

/** Undefined when there is nothing to say any more. Every call makes a new token, and the one before stops working. */
export async function writeMail(
  tx: Transaction,
  mail: QueuedMail,
  { baseUrl, now }: Pick<Context, 'baseUrl' | 'now'>,
): Promise<MailText | undefined> {
  const user = await findMailUser(tx, mail.userId)
  if (user === undefined || user.anonymizedAt !== null) return undefined
  const organization = await findOrganization(tx, user.organizationId)
  const context = { user, organization, baseUrl, now }
  switch (mail.purpose) {
    case 'invitation':
      return mail.recipient === user.email ? writeInvitation(tx, mail.subjectId as InvitationId, context) : undefined
    case 'password_reset':
    case 'email_verification':
      // A link proves its address, so it goes to the one the user has, and only while the user may use it.
      return mail.recipient === user.email && user.status !== 'Disabled'
        ? writeLink(tx, mail.purpose, context)
        : undefined
    case 'email_changed':
      return emailChangedText(context)
  }
}

async function writeInvitation(tx: Transaction, id: InvitationId, context: Context): Promise<MailText | undefined> {
  const { user, organization, baseUrl, now } = context
  const invitation = await findInvitation(tx, user.organizationId, id)
  if (invitation === undefined || !isOpen(invitation, now) || user.status !== 'Pending') return undefined
  const token = mintLinkToken()
  await setInvitationToken(tx, invitation, linkTokenHash(token) as string)
  const inviter = invitation.invitedBy === null ? undefined : await findMailUser(tx, invitation.invitedBy)
  return invitationText({
    organization,
    inviter: inviter === undefined || inviter.anonymizedAt !== null ? null : (inviter.name ?? inviter.email),
    link: invitationLink(baseUrl, token),
    expiresAt: invitation.expiresAt,
  })
}

async function writeLink(
  tx: Transaction,
  purpose: 'password_reset' | 'email_verification',
  { user, organization, baseUrl, now }: Context,
): Promise<MailText> {
  const ttlMs = purpose === 'password_reset' ? PASSWORD_RESET_MS : EMAIL_VERIFICATION_MS
  const token = await mintLink(tx, { userId: user.id, purpose, email: user.email, ttlMs, now })
  const expiresAt = now + ttlMs * MICROS_PER_MS
  if (purpose === 'password_reset') {
    return passwordResetText({ organization, expiresAt, link: `${baseUrl}/reset-password#token=${token}` })
  }
  return emailVerificationText({ organization, expiresAt, link: `${baseUrl}/verify-email#token=${token}` })
}

/** The token stands in the fragment, which a browser keeps to itself: it reaches no server's log. */
export function invitationLink(baseUrl: string, token: string): string {
  return `${baseUrl}/invite#token=${token}`
}
