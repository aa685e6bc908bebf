import { recordAudit, SYSTEM_ACTOR } from '../../platform/audit/record.ts'
import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { LeaseLost, ShuttingDown } from '../../platform/jobs/failures.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Job, JobContext } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { setDelivery } from '../invitation/store-invitations.ts'
import { deleteExpiredLinks } from '../invitation/store-links.ts'
import type { InvitationId, MailId } from '../tables.ts'
import { MailFailure } from './mail-failure.ts'
import { MAIL_ATTEMPTS, MAIL_JOB } from './mail-outbox.ts'
import type { MailText } from './mail-texts.ts'
import { mailDomain, senderOf } from './sender.ts'
import { parseSmtpUrl, sendOverSmtp } from './smtp.ts'
import { deleteSettledMails, findQueuedMail, noteMailError, type QueuedMail, settleMail } from './store-mails.ts'
import { writeMail } from './write-mail.ts'

export interface DeliverMailsOptions {
  db: Database
  clock: Clock
  jobs: JobEngine
  settings: { smtp_url: string | null; mail_from: string | null }
  baseUrl(): string
}

type MailJob = Job<{ mailId: MailId }>

const PURGE_EVERY_MS = 3_600_000
const KEPT_MS = 30 * 86_400_000
const PURGE_BATCH = 500

/** Sends what the outbox holds, and sweeps it. To be called once, before the engine starts. */
export function deliverMails(options: DeliverMailsOptions): void {
  options.jobs.register(MAIL_JOB, (job, context) => deliver(options, job, context))
  options.jobs.recurring({
    name: 'users.purge-mails',
    everyMs: PURGE_EVERY_MS,
    run: ({ signal }) => purge(options, signal),
  })
}

async function deliver(options: DeliverMailsOptions, job: MailJob, context: JobContext): Promise<void> {
  const { db, clock, baseUrl } = options
  const mail = await findQueuedMail(db, job.payload.mailId)
  if (mail === undefined) return
  if (job.attempt > MAIL_ATTEMPTS)
    return giveUp(options, mail, context, 'The process that sent it died again and again')
  const text = await db.write(async (tx) => {
    // Withdrawn at this very moment?
    const current = await findQueuedMail(tx, mail.id)
    return current && writeMail(tx, current, { baseUrl: baseUrl(), now: clock.now() })
  })
  if (text === undefined) return giveUp(options, mail, context, 'It was of no use any more')
  try {
    await send(options, mail, text, job.attempt, context.signal)
  } catch (error) {
    const { reason } = context.signal
    if (reason instanceof ShuttingDown || reason instanceof LeaseLost) throw error
    return retryOrGiveUp(options, mail, job, context, MailFailure.of(error))
  }
  await db.write(async (tx) => {
    await settleMail(tx, mail.id, { state: 'sent', error: null, at: clock.now() })
    if (mail.subjectId !== null) await setDelivery(tx, mail.subjectId as InvitationId, 'sent')
    await context.complete(tx)
  })
}

async function send(
  { settings, baseUrl }: DeliverMailsOptions,
  mail: QueuedMail,
  text: MailText,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  if (settings.smtp_url === null) throw new MailFailure('No mail server is set')
  const message = {
    ...text,
    // Each attempt has a link of its own, so none may pass for a copy of another.
    messageId: `<${mail.id}.${attempt}@${mailDomain(baseUrl())}>`,
    from: senderOf(settings.mail_from, baseUrl()),
    to: mail.recipient,
    date: new Date(mail.createdAt / MICROS_PER_MS),
  }
  await sendOverSmtp(parseSmtpUrl(settings.smtp_url), message, signal)
}

async function retryOrGiveUp(
  options: DeliverMailsOptions,
  mail: QueuedMail,
  job: MailJob,
  context: JobContext,
  failure: MailFailure,
): Promise<void> {
  if (job.attempt >= MAIL_ATTEMPTS) return giveUp(options, mail, context, failure.message)
  await options.db.write((tx) => noteMailError(tx, mail.id, failure.message, options.clock.now()))
  throw failure
}

async function giveUp(
  { db, clock }: DeliverMailsOptions,
  mail: QueuedMail,
  { log, complete }: JobContext,
  reason: string,
): Promise<void> {
  await db.write(async (tx) => {
    const settled = await settleMail(tx, mail.id, { state: 'failed', error: reason, at: clock.now() })
    if (settled && mail.subjectId !== null) await failInvitation(tx, mail.subjectId as InvitationId, reason)
    await complete(tx)
  })
  log.warn({ mail: mail.id, purpose: mail.purpose, reason }, 'a mail was given up')
}

async function failInvitation(tx: Transaction, id: InvitationId, reason: string): Promise<void> {
  const invitation = await setDelivery(tx, id, 'failed')
  if (invitation === undefined) return
  await recordAudit(tx, {
    organizationId: invitation.organizationId,
    action: 'invitation.delivery_failed',
    outcome: 'failure',
    actor: SYSTEM_ACTOR,
    target: { type: 'user_invitations', id },
    changes: { delivery: { old: 'queued', new: 'failed' }, reason: { new: reason } },
  })
}

/** Mails that were sent or given up long ago, and links that nobody can follow any more. */
async function purge({ db, clock }: DeliverMailsOptions, signal: AbortSignal): Promise<void> {
  const now = clock.now()
  const sweeps = [
    () => deleteSettledMails(db, now - KEPT_MS * MICROS_PER_MS, PURGE_BATCH),
    () => deleteExpiredLinks(db, now, PURGE_BATCH),
  ]
  for (const sweep of sweeps) {
    while ((await sweep()) === PURGE_BATCH) signal.throwIfAborted()
  }
}
