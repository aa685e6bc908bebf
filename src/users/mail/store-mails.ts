import type { UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { toUser } from '../user/store-users.ts'
import '../tables.ts'
import type { MailId, MailsTable } from '../tables.ts'
import type { User } from '../user/user.ts'

export type MailPurpose = MailsTable['purpose']

export interface QueuedMail {
  id: MailId
  userId: UserId
  purpose: MailPurpose
  /** The invitation that the mail is about. */
  subjectId: string | null
  recipient: string
  createdAt: Micros
}

const insertQueued = statement<Omit<MailsTable, 'state' | 'last_error'>>((query, p) =>
  query.insertInto('mails').values({
    id: p('id'),
    user_id: p('user_id'),
    purpose: p('purpose'),
    subject_id: p('subject_id'),
    recipient: p('recipient'),
    state: 'queued',
    last_error: null,
    created_at: p('created_at'),
    changed_at: p('changed_at'),
  }),
)

export async function insertMail(tx: Transaction, mail: QueuedMail): Promise<void> {
  await tx.run(insertQueued, {
    id: mail.id,
    user_id: mail.userId,
    purpose: mail.purpose,
    subject_id: mail.subjectId,
    recipient: mail.recipient,
    created_at: mail.createdAt,
    changed_at: mail.createdAt,
  })
}

/** Undefined when it was sent, given up or withdrawn. */
export async function findQueuedMail(reader: Reader, id: MailId): Promise<QueuedMail | undefined> {
  const row = await reader.query
    .selectFrom('mails')
    .selectAll()
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      userId: row.user_id,
      purpose: row.purpose,
      subjectId: row.subject_id,
      recipient: row.recipient,
      createdAt: row.created_at,
    }
  )
}

/** Whoever the mail is about or from. */
export async function findMailUser(reader: Reader, id: UserId): Promise<User | undefined> {
  const row = await reader.query.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toUser(row)
}

/** False when it is no longer queued. What remains says that there was a mail, not to whom. */
export async function settleMail(
  tx: Transaction,
  id: MailId,
  to: { state: 'sent' | 'failed'; error: string | null; at: Micros },
): Promise<boolean> {
  const rows = await tx.query
    .updateTable('mails')
    .set({ state: to.state, last_error: to.error, changed_at: to.at, recipient: '' })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .returning('id')
    .execute()
  return rows.length > 0
}

export async function noteMailError(tx: Transaction, id: MailId, error: string, at: Micros): Promise<void> {
  await tx.query
    .updateTable('mails')
    .set({ last_error: error, changed_at: at })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .execute()
}

/** Takes back what was not sent yet. */
export async function deleteQueuedMails(tx: Transaction, subjectIds: readonly string[]): Promise<void> {
  if (subjectIds.length === 0) return
  await tx.query
    .deleteFrom('mails')
    .where('subject_id', 'in', [...subjectIds])
    .where('state', '=', 'queued')
    .execute()
}

export async function deleteQueuedOf(tx: Transaction, userId: UserId, purpose: MailPurpose): Promise<void> {
  await tx.query
    .deleteFrom('mails')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose)
    .where('state', '=', 'queued')
    .execute()
}

export async function deleteMailsOf(tx: Transaction, userId: UserId): Promise<void> {
  await tx.query.deleteFrom('mails').where('user_id', '=', userId).execute()
}

/** How many were removed: `limit` as long as there may be more. */
export async function deleteSettledMails(db: Database, before: Micros, limit: number): Promise<number> {
  const rows = await db.write((tx) =>
    tx.query
      .deleteFrom('mails')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('mails')
          .select('id')
          .where('state', 'in', ['sent', 'failed'])
          .where('changed_at', '<', before)
          .limit(limit),
      )
      .returning('id')
      .execute(),
  )
  return rows.length
}
