import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, actor, recordAudit } from '../../platform/audit/record.ts'
import { isSession, type Principal, type UserId } from '../../platform/auth/principal.ts'
import { hashSecret } from '../../platform/auth/secrets.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { parseEmail } from '../../platform/text/email.ts'
import { type TakenLink, takeLink } from '../invitation/user-links.ts'
import { requirePerson } from '../look-up.ts'
import type { MailOutbox } from '../mail/mail-outbox.ts'
import { findOrganizationId } from '../store-installation.ts'
import { findUser, findUserByEmail } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { passwordProblem } from './password-rules.ts'
import { replacePassword } from './replace-password.ts'
import type { SessionService } from './session-service.ts'
import { findPasswordHash } from './store-passwords.ts'

export interface PasswordServiceOptions {
  db: Database
  clock: Clock
  jobs: JobEngine
  sessions: SessionService
  settings: { password_min_length: number }
  outbox: Pick<MailOutbox, 'enabled' | 'queuePasswordReset'>
}

/** Null for an address that nobody has: the request has done the same either way. */
const RESET = jobKind<{ userId: UserId | null }>('users.password-reset', { maxAttempts: 10 })

export class PasswordService {
  readonly #options: PasswordServiceOptions

  constructor(options: PasswordServiceOptions) {
    this.#options = options
    this.#registerReset()
  }

  /**
   * Tells nobody whether the address is known: the same statements run for all, and whether a mail goes out is decided
   * by a job later on.
   */
  async requestReset(input: { email: string }): Promise<void> {
    const { db, jobs } = this.#options
    const organizationId = await findOrganizationId(db)
    if (organizationId === undefined) return
    const email = parseEmail(input.email) ?? ''
    const user = await findUserByEmail(db, organizationId, email)
    const userId = user !== undefined && mayReset(user) ? user.id : null
    await db.write((tx) => jobs.enqueue(tx, { kind: RESET, key: hashSecret(email), payload: { userId } }))
  }

  /** By the token of a reset or set-up link. Every session of the user ends. */
  async confirmReset(input: { token: string; password: string }, client?: ClientInfo): Promise<User> {
    const { db, clock, sessions } = this.#options
    this.#refuseBad('data.attributes.password', input.password, '')
    // Before it is known whether the token is good: hashing is slow, and a transaction must not wait for it.
    const hash = await hashPassword(input.password)
    return db.write(async (tx) => {
      const user = await this.#takeLink(tx, input.token)
      // A refusal rolls back, so the link can be used again.
      this.#refuseBad('data.attributes.password', input.password, user.email)
      const by: AuditActor = { kind: 'user', id: user.id, method: 'link', credentialId: null }
      await replacePassword(tx, user, { hash, by, now: clock.now() }, client)
      await sessions.endSessions(tx, user, { by }, client)
      return user
    })
  }

  /** The caller's other sessions end. */
  async change(principal: Principal, input: { current: string; new: string }, client?: ClientInfo): Promise<void> {
    const { db, clock, sessions } = this.#options
    if (principal.userId === null) throw new AppError('permission_denied', 'Only a user has a password')
    const user = await requirePerson(db, principal, principal.userId)
    this.#refuseBad('data.attributes.new', input.new, user.email)
    const known = await findPasswordHash(db, user.id)
    if (!(await verifyPassword(known, input.current))) {
      await db.write((tx) => recordWrongPassword(tx, principal, user.id, client), { isolation: 'read committed' })
      throw wrongPassword()
    }
    const hash = await hashPassword(input.new)
    await db.write(async (tx) => {
      const now = await requirePerson(tx, principal, user.id)
      // Somebody else changed it meanwhile: what was proved is no longer the current one.
      if ((await findPasswordHash(tx, now.id)) !== known) throw wrongPassword()
      const by = actor(principal)
      await replacePassword(tx, now, { hash, by, now: clock.now() }, client)
      const except = isSession(principal) && principal.credentialId !== null ? principal.credentialId : undefined
      await sessions.endSessions(tx, now, { by, except }, client)
    })
  }

  async #takeLink(tx: Transaction, token: string): Promise<User> {
    const now = this.#options.clock.now()
    const link: TakenLink | undefined =
      (await takeLink(tx, 'password_reset', token, now)) ?? (await takeLink(tx, 'setup', token, now))
    const organizationId = link && (await findOrganizationId(tx))
    const user = organizationId && (await findUser(tx, organizationId, link.userId))
    // A link went to one address: it does not reset the password of somebody who has another one by now.
    if (!user || !mayReset(user) || (link.email !== null && link.email !== user.email)) {
      throw new AppError('not_found', 'Password reset is not valid')
    }
    return user
  }

  #refuseBad(member: string, password: string, email: string): void {
    const problem = passwordProblem(password, { minLength: this.#options.settings.password_min_length, email })
    if (problem !== undefined) throw new AppError('invalid_argument', `${member} ${problem}`)
  }

  #registerReset(): void {
    const { db, jobs, outbox } = this.#options
    jobs.register(RESET, async ({ payload: { userId } }, { complete, log }) => {
      if (userId === null) return
      if (!outbox.enabled) {
        log.warn({ user: userId }, 'a password reset needs users.smtp_url; or use "commonplace user set-password"')
        return
      }
      await db.write(async (tx) => {
        const organizationId = await findOrganizationId(tx)
        const user = organizationId && (await findUser(tx, organizationId, userId))
        if (user && mayReset(user)) await outbox.queuePasswordReset(tx, user)
        await complete(tx)
      })
    })
  }
}

function mayReset(user: User): boolean {
  return user.status === 'Active' && !user.serviceAccount && user.anonymizedAt === null
}

/** Somebody may be guessing in a session that was left open. How often is limited, so is what this can add to the log. */
function recordWrongPassword(tx: Transaction, by: Principal, id: UserId, client?: ClientInfo): Promise<void> {
  return recordAudit(tx, {
    organizationId: by.organizationId,
    action: 'access.denied',
    outcome: 'failure',
    actor: actor(by),
    target: { type: 'users', id },
    changes: { reason: { new: 'wrong_password' } },
    client,
  })
}

function wrongPassword(): AppError {
  return new AppError('permission_denied', 'data.attributes.current is not your password')
}
