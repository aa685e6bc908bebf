import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, actor, recordAudit } from '../../platform/audit/record.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import { lacksSecondFactor, type MfaPolicy } from '../../platform/auth/second-factor.ts'
import { mintCsrfToken, mintSessionToken } from '../../platform/auth/secrets.ts'
import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { storableText } from '../../platform/text/storable-text.ts'
import { refuseAgainstAdministrator } from '../guards.ts'
import { requireUser } from '../look-up.ts'
import { permissionsOfUser } from '../role/store-roles.ts'
import { usersWithMfa } from '../user/store-user-facts.ts'
import { updateUser } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import type { Session, StartedSession } from './session.ts'
import {
  deleteOldestSessions,
  deleteSession,
  deleteSessions,
  findSessionById,
  insertSession,
  listSessions,
  purgeSessions,
  type SessionLimits,
} from './store-sessions.ts'

export interface SessionServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  /** Milliseconds. */
  settings: { session_idle: number; session_max: number; require_mfa: MfaPolicy }
  /** Told of every user who signed in. Must not throw. */
  onSignedIn?(userId: UserId, now: Micros): void
}

// Uses are written down some time later, by whatever process. Who idles is refused in any case.
const LATE_USES_MS = 5 * 60_000
// More devices than a person has; whoever signs in more often loses the oldest session.
const MOST_SESSIONS = 100
const LONGEST_TEXT = 512
const PURGE_EVERY_MS = 3_600_000
const PURGE_BATCH = 500

export interface CurrentSession extends Session {
  csrfToken: string
  mustEnrol: boolean
}

export class SessionService {
  readonly #options: SessionServiceOptions

  constructor(options: SessionServiceOptions) {
    this.#options = options
  }

  /**
   * Signs a user in, in the transaction that found out that it may. `method` says how the user proved to be the one,
   * for the audit log.
   */
  async startSession(tx: Transaction, user: User, client?: ClientInfo, method = 'password'): Promise<StartedSession> {
    const { clock, settings, onSignedIn } = this.#options
    const now = clock.now()
    tx.afterCommit(() => onSignedIn?.(user.id, now))
    const secret = mintSessionToken()
    const started = {
      id: newId<'Session'>(),
      token: secret.plain,
      csrfToken: mintCsrfToken(),
      expiresAt: now + settings.session_max * MICROS_PER_MS,
      mustEnrol: await this.#mustEnrol(tx, user.id),
    }
    await insertSession(tx, {
      id: started.id,
      user_id: user.id,
      secret_hash: secret.hash,
      csrf_token: started.csrfToken,
      client_address: bounded(client?.address ?? null),
      user_agent: bounded(client?.userAgent ?? null),
      created_at: now,
      last_seen_at: now,
      authenticated_at: now,
      expires_at: started.expiresAt,
    })
    await deleteOldestSessions(tx, user.id, MOST_SESSIONS)
    // A sign-in is no change that a person made: `modified_at` stays.
    await updateUser(tx, user, { ...user, lastLoginAt: now })
    await recordAudit(tx, {
      organizationId: user.organizationId,
      action: 'session.started',
      actor: { kind: 'user', id: user.id, method, credentialId: started.id },
      target: { type: 'sessions', id: started.id },
      client,
    })
    return started
  }

  /** The session that the caller is using; undefined when it came by another way. */
  async current(principal: Principal): Promise<CurrentSession | undefined> {
    const { userId, credentialId, csrfToken, method, mustEnrol = false } = principal
    if (method !== 'session' && method !== 'cookie') return undefined
    if (userId === null || credentialId === null || csrfToken === null) return undefined
    return this.#options.db.read(async (snapshot) => {
      const session = await findSessionById(snapshot, userId, credentialId)
      return session && { ...session, csrfToken, mustEnrol }
    })
  }

  /** Those that can still be used, newest first. */
  async list(principal: Principal, input: { userId: UserId }): Promise<Session[]> {
    return this.#options.db.read(async (snapshot) => {
      const user = await requireUser(snapshot, principal, input.userId)
      return listSessions(snapshot, user.id, this.#limits())
    })
  }

  async revoke(principal: Principal, input: { userId: UserId; sessionId: string }, client?: ClientInfo): Promise<void> {
    const { db, changes } = this.#options
    await db.write(async (tx) => {
      const user = await requireUser(tx, principal, input.userId)
      await refuseAgainstAdministrator(tx, principal, user, 'end sessions of')
      if (!(await deleteSession(tx, user.id, input.sessionId))) {
        throw new AppError('not_found', `Session ${input.sessionId} not found`)
      }
      const target = { type: 'sessions', id: input.sessionId }
      await auditChange(tx, principal, { action: 'session.revoked', target, changes: ownedBy(user.id) }, client)
      changes.announce(tx)
    })
  }

  async revokeAll(principal: Principal, input: { userId: UserId }, client?: ClientInfo): Promise<void> {
    await this.#options.db.write(async (tx) => {
      const user = await requireUser(tx, principal, input.userId)
      await refuseAgainstAdministrator(tx, principal, user, 'end sessions of')
      await this.endSessions(tx, user, { by: actor(principal) }, client)
    })
  }

  /** Part of whatever makes old sessions worthless, such as a new password. Answers how many ended. */
  async endSessions(
    tx: Transaction,
    user: User,
    { by, except }: { by: AuditActor; except?: string },
    client?: ClientInfo,
  ): Promise<number> {
    const ended = await deleteSessions(tx, user.id, except ?? null)
    if (ended === 0) return 0
    await recordAudit(tx, {
      organizationId: user.organizationId,
      action: 'session.revoked',
      actor: by,
      target: { type: 'users', id: user.id },
      changes: { sessions: { old: ended, new: 0 } },
      client,
    })
    this.#options.changes.announce(tx)
    return ended
  }

  /** Rows that open nothing any more are removed once an hour, by one of the processes. */
  schedulePurge(jobs: JobEngine): void {
    jobs.recurring({
      name: 'users.purge-sessions',
      everyMs: PURGE_EVERY_MS,
      run: async ({ signal, log }) => {
        const removed = await this.purge(signal)
        if (removed > 0) log.info({ removed }, 'sessions that had run out were removed')
      },
    })
  }

  async purge(signal?: AbortSignal): Promise<number> {
    let total = 0
    for (let removed = PURGE_BATCH; removed === PURGE_BATCH; total += removed) {
      signal?.throwIfAborted()
      const { seenAfter, ...limits } = this.#limits()
      const idle = { ...limits, seenAfter: seenAfter - LATE_USES_MS * MICROS_PER_MS }
      removed = await purgeSessions(this.#options.db, idle, PURGE_BATCH)
    }
    return total
  }

  async #mustEnrol(reader: Reader, userId: UserId): Promise<boolean> {
    const { require_mfa: policy } = this.#options.settings
    if (policy === 'off') return false
    const permissions = await permissionsOfUser(reader, userId)
    const hasSecondFactor = (await usersWithMfa(reader, [userId])).has(userId)
    return lacksSecondFactor(policy, { permissions, hasSecondFactor })
  }

  #limits(): SessionLimits {
    const { clock, settings } = this.#options
    const now = clock.now()
    return {
      now,
      seenAfter: now - settings.session_idle * MICROS_PER_MS,
      createdAfter: now - settings.session_max * MICROS_PER_MS,
    }
  }
}

function ownedBy(userId: UserId) {
  return { user: { old: userId } }
}

// A client writes these as it likes.
function bounded(text: string | null): string | null {
  return text === null ? null : storableText(text, LONGEST_TEXT)
}
