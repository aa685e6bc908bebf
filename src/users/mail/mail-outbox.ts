import type { Clock } from '../../platform/clock/clock.ts'
import { newId } from '../../platform/ids/uuid.ts'
import { enqueueJob } from '../../platform/jobs/enqueue.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { InvitationId, MailId } from '../tables.ts'
import type { User } from '../user/user.ts'
import { deleteQueuedOf, insertMail, type MailPurpose } from './store-mails.ts'

/** Attempts until a mail counts as failed. */
export const MAIL_ATTEMPTS = 5

/**
 * Delivers one mail. The handler itself gives up after MAIL_ATTEMPTS, because giving up is a change of its own; the
 * engine's limit is only reached by a job whose process dies again and again.
 */
export const MAIL_JOB = jobKind<{ mailId: MailId }>('users.mail', {
  maxAttempts: 2 * MAIL_ATTEMPTS,
  backoff: { initialMs: 30_000, coefficient: 2, maxMs: 15 * 60_000, jitter: 0 },
  concurrency: 4,
  timeoutMs: 90_000,
})

export interface MailOutboxOptions {
  clock: Clock
  settings: { smtp_url: string | null }
}

type Addressee = Pick<User, 'id' | 'email'>

/**
 * Mails that wait to be sent: a row and a job, in the transaction that causes them. A row names what the mail is about;
 * its text is written, and the token in its link is made, when it is sent. So the database never holds a token, nor a
 * name that was changed or anonymized meanwhile.
 */
export class MailOutbox {
  readonly #clock: Clock
  /** False: no mail server is set, and nothing is ever queued. */
  readonly enabled: boolean

  constructor({ clock, settings }: MailOutboxOptions) {
    this.#clock = clock
    this.enabled = settings.smtp_url !== null
  }

  queueInvitation(tx: Transaction, user: Addressee, invitationId: InvitationId): Promise<void> {
    return this.#queue(tx, { user, purpose: 'invitation', subjectId: invitationId })
  }

  /** The link is made when the mail is sent; look it up with `takeLink(tx, 'password_reset', token, now)`. */
  queuePasswordReset(tx: Transaction, user: Addressee): Promise<void> {
    return this.#queue(tx, { user, purpose: 'password_reset' })
  }

  /** To the address that the user has from now on. */
  queueEmailVerification(tx: Transaction, user: Addressee): Promise<void> {
    return this.#queue(tx, { user, purpose: 'email_verification' })
  }

  queueEmailChanged(tx: Transaction, user: Addressee, oldEmail: string): Promise<void> {
    return this.#queue(tx, { user: { id: user.id, email: oldEmail }, purpose: 'email_changed' })
  }

  async #queue(
    tx: Transaction,
    mail: { user: Addressee; purpose: MailPurpose; subjectId?: InvitationId },
  ): Promise<void> {
    if (!this.enabled) return
    const { user, purpose, subjectId = null } = mail
    // Each new link replaces the one before it, so only the newest is worth a mail.
    if (purpose === 'password_reset' || purpose === 'email_verification') await deleteQueuedOf(tx, user.id, purpose)
    const now = this.#clock.now()
    const id = newId<'Mail'>()
    await insertMail(tx, { id, userId: user.id, purpose, subjectId, recipient: user.email, createdAt: now })
    await enqueueJob(tx, { kind: MAIL_JOB, payload: { mailId: id } }, now)
  }
}
