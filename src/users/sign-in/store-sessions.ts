import type { UserId } from '../../platform/auth/principal.ts'
import type { SessionsTable } from '../../platform/auth/tables.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import type { Session } from './session.ts'

export async function insertSession(tx: Transaction, row: SessionsTable): Promise<void> {
  await tx.query.insertInto('sessions').values(row).execute()
}

/** What is past either limit can no longer be used, whether or not it has been purged yet. */
export interface SessionLimits {
  now: Micros
  seenAfter: Micros
  createdAfter: Micros
}

/** Those that can still be used, newest first. */
export async function listSessions(reader: Reader, userId: UserId, limits: SessionLimits): Promise<Session[]> {
  const rows = await reader.query
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', limits.now)
    .where('last_seen_at', '>', limits.seenAfter)
    .where('created_at', '>', limits.createdAfter)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(toSession)
}

export async function findSessionById(reader: Reader, userId: UserId, id: string): Promise<Session | undefined> {
  const row = await reader.query
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toSession(row)
}

export async function deleteSession(tx: Transaction, userId: UserId, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Answers how many ended. */
export async function deleteSessions(tx: Transaction, userId: UserId, except: string | null): Promise<number> {
  let query = tx.query.deleteFrom('sessions').where('user_id', '=', userId)
  if (except !== null) query = query.where('id', '!=', except)
  const { numDeletedRows } = await query.executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Leaves the newest ones. */
export async function deleteOldestSessions(tx: Transaction, userId: UserId, keep: number): Promise<void> {
  const beyond = await tx.query
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(keep)
    .execute()
  if (beyond.length === 0) return
  const ids = beyond.map((row) => row.id)
  await tx.query.deleteFrom('sessions').where('id', 'in', ids).execute()
}

/** One batch of those that can no longer be used; answers how many. */
export async function purgeSessions(db: Database, limits: SessionLimits, batch: number): Promise<number> {
  return db.write(
    async (tx) => {
      const dead = tx.query
        .selectFrom('sessions')
        .select('id')
        .where(({ eb, or }) =>
          or([
            eb('expires_at', '<=', limits.now),
            eb('last_seen_at', '<=', limits.seenAfter),
            eb('created_at', '<=', limits.createdAfter),
          ]),
        )
        .limit(batch)
      const { numDeletedRows } = await tx.query.deleteFrom('sessions').where('id', 'in', dead).executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
    { isolation: 'read committed' },
  )
}

function toSession(row: SessionsTable): Session {
  return {
    id: row.id,
    userId: row.user_id,
    clientAddress: row.client_address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    authenticatedAt: row.authenticated_at,
    expiresAt: row.expires_at,
  }
}
