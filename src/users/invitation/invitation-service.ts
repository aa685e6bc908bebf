import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { type AuditActor, actor, recordAudit } from '../../platform/audit/record.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import { allows, type Principal, type UserId } from '../../platform/auth/principal.ts'
import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { newId, parseId } from '../../platform/ids/uuid.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { permissionsLacked } from '../guards.ts'
import { requireUser } from '../look-up.ts'
import type { MailOutbox } from '../mail/mail-outbox.ts'
import { invitationLink } from '../mail/write-mail.ts'
import type { ListCounts, Page } from '../page.ts'
import { codeRequired, recordFailedSignIn, signInFailed } from '../sign-in/failed-sign-in.ts'
import { hashPassword } from '../sign-in/password.ts'
import { passwordProblem } from '../sign-in/password-rules.ts'
import type { StartedSession } from '../sign-in/session.ts'
import type { SessionService } from '../sign-in/session-service.ts'
import { setPasswordHash, usersWithPassword } from '../sign-in/store-passwords.ts'
import type { Proof, TotpService } from '../sign-in/totp-service.ts'
import type { InvitationId } from '../tables.ts'
import { usersWithMfa } from '../user/store-user-facts.ts'
import { findOrganization, findUser, updateUser } from '../user/store-users.ts'
import { parseProfileText, type User } from '../user/user.ts'
import { type Invitation, isOpen } from './invitation.ts'
import { revokeInvitations } from './revoke-invitations.ts'
import {
  acceptOpen,
  countInvitations,
  findInvitation,
  findInvitationByToken,
  findUsersById,
  type InvitationFilter,
  insertInvitations,
  listInvitations,
} from './store-invitations.ts'
import { dropLinks, linkTokenHash, mintLinkToken } from './user-links.ts'

export interface InvitationServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  outbox: MailOutbox
  sessions: SessionService
  totp: Pick<TotpService, 'prove'>
  settings: { invitation_ttl: number; password_min_length: number; login_methods: readonly string[] }
  baseUrl(): string
}

export interface SentInvitations {
  invitations: Invitation[]
  /** Links by invitation, where no mail carries them and the caller may know them. */
  acceptLinks: Map<InvitationId, string> | null
}

export interface Acceptance {
  token: string
  password?: string
  name?: string | null
  /** Of the second factor, or a recovery code, for an account that has one from before. */
  totp?: string | null
}

// More than that in one change takes a commit of its own.
const SMALL_BATCH = 10

export class InvitationService {
  readonly #options: InvitationServiceOptions

  constructor(options: InvitationServiceOptions) {
    this.#options = options
  }

  /** All of them or none; every problem is reported at once. In the order of the ids. `also` is part of the same transaction. */
  async send(
    principal: Principal,
    input: { userIds: readonly string[] },
    client?: ClientInfo,
    also?: (tx: Transaction, sent: SentInvitations) => Promise<void>,
  ): Promise<SentInvitations> {
    const { db } = this.#options
    const ids = input.userIds.map((text) => ({ text: shownId(text), id: parseId<'User'>(text) }))
    const work = async (tx: Transaction) => {
      const known = ids.flatMap(({ id }) => id ?? [])
      const users = await findUsersById(tx, principal.organizationId, known)
      refuseUninvitable(ids, users)
      const invited = known.map((id) => users.get(id) as User)
      const invitations = await this.#invite(tx, principal, invited, client)
      const sent = { invitations, acceptLinks: await this.#linksFor(tx, principal, invitations) }
      await also?.(tx, sent)
      return sent
    }
    return db.write(work, { alone: ids.length > SMALL_BATCH })
  }

  /**
   * Without a mail server somebody has to pass the links on. Whoever has one can become that user: of an administrator, and
   * of somebody with more rights who was here before, the caller is told none. A newcomer's is for whoever made the account.
   */
  async #linksFor(
    tx: Transaction,
    principal: Principal,
    sent: readonly (Invitation & { token: string | null })[],
  ): Promise<Map<InvitationId, string> | null> {
    const { outbox, baseUrl } = this.#options
    if (outbox.enabled || !allows(principal, 'user_access_manage')) return null
    const userIds = sent.map(({ userId }) => userId)
    const lacked = await permissionsLacked(tx, principal, userIds)
    const higher = userIds.filter((id) => lacked.get(id)?.length)
    const known = new Set([...(await usersWithPassword(tx, higher)), ...(await usersWithMfa(tx, higher))])
    const hidden = new Set(higher.filter((id) => known.has(id) || lacked.get(id)?.includes('admin')))
    const shown = sent.filter(({ userId }) => !hidden.has(userId))
    return new Map(shown.map(({ id, token }) => [id, invitationLink(baseUrl(), token as string)]))
  }

  async get(principal: Principal, input: { id: InvitationId }): Promise<Invitation> {
    const invitation = await findInvitation(this.#options.db, principal.organizationId, input.id)
    if (invitation === undefined) throw new AppError('not_found', `Invitation ${input.id} not found`)
    return invitation
  }

  async list(
    principal: Principal,
    input: { filter: InvitationFilter; page: Page },
  ): Promise<{ invitations: Invitation[]; counts: ListCounts }> {
    const { db, clock } = this.#options
    const { organizationId } = principal
    const now = clock.now()
    return db.read(async (snapshot) => ({
      invitations: await listInvitations(snapshot, organizationId, input.filter, input.page, now),
      counts: await countInvitations(snapshot, organizationId, input.filter, now),
    }))
  }

  /** How many were pending. */
  async revokeAll(principal: Principal, input: { userId: UserId }, client?: ClientInfo): Promise<number> {
    const { db, clock } = this.#options
    const { organizationId } = principal
    return db.write(async (tx) => {
      const user = await requireUser(tx, principal, input.userId)
      const by = { organizationId, actor: actor(principal), client, now: clock.now() }
      return (await revokeInvitations(tx, { ...by, userIds: [user.id] })).length
    })
  }

  /** What the page behind the link shows. */
  async lookUp(input: { token: string }): Promise<{ invitation: Invitation; email: string; organization: string }> {
    return this.#options.db.read(async (snapshot) => {
      const { invitation, user } = await this.#requireOpen(snapshot, input.token)
      const organization = await findOrganization(snapshot, invitation.organizationId)
      return { invitation, email: user.email, organization: organization.name }
    })
  }

  /**
   * Of several who accept the same invitation one gets in; the others are told that it is not valid. A second factor is
   * asked for as at a sign-in: the link replaces the password and no more.
   */
  async accept(input: Acceptance, client?: ClientInfo): Promise<{ user: User; session: StartedSession }> {
    const { db, totp, clock } = this.#options
    const { user } = await db.read((snapshot) => this.#requireOpen(snapshot, input.token))
    const { password, name } = this.#checked(input, user.email)
    const hash = password === undefined ? null : await hashPassword(password)
    const accepted = await db.write(async (tx) => {
      const found = await this.#requireOpen(tx, input.token)
      // The password was judged against this address.
      if (found.user.email !== user.email) throw invalid()
      const { id: userId, organizationId } = found.user
      const proof = await totp.prove(tx, userId, input.totp ?? null, clock.now())
      if (proof === 'missing') throw codeRequired()
      if (proof !== 'wrong') return this.#accept(tx, found, { hash, name, proof }, client)
      await recordFailedSignIn(tx, { organizationId, userId, method: 'invitation', reason: 'wrong_code' }, client)
      return null
    })
    if (accepted === null) throw signInFailed()
    return accepted
  }

  async #invite(
    tx: Transaction,
    principal: Principal,
    users: readonly User[],
    client?: ClientInfo,
  ): Promise<(Invitation & { token: string | null })[]> {
    const { clock, outbox, settings } = this.#options
    const { organizationId } = principal
    const now = clock.now()
    const by = { organizationId, actor: actor(principal), client }
    await revokeInvitations(tx, { ...by, userIds: users.map((user) => user.id), now })
    const invitations = users.map((user) => {
      // With a mail server the token is made when the mail is sent, and only the mail holds it.
      const token = outbox.enabled ? null : mintLinkToken()
      return {
        id: newId<'Invitation'>(),
        organizationId,
        userId: user.id,
        state: 'pending' as const,
        invitedBy: principal.userId,
        delivery: outbox.enabled ? ('queued' as const) : ('disabled' as const),
        createdAt: now,
        expiresAt: now + settings.invitation_ttl * MICROS_PER_MS,
        acceptedAt: null,
        token,
        tokenHash: token === null ? null : (linkTokenHash(token) as string),
      }
    })
    await insertInvitations(tx, organizationId, invitations)
    for (const [at, { id, userId }] of invitations.entries()) {
      await outbox.queueInvitation(tx, users[at] as User, id)
      const target = { type: 'user_invitations', id }
      await recordAudit(tx, { ...by, action: 'invitation.sent', target, changes: { user: { new: userId } } })
    }
    return invitations
  }

  async #accept(
    tx: Transaction,
    { invitation, user }: { invitation: Invitation; user: User },
    { hash, name, proof }: { hash: string | null; name: string | null; proof: Proof },
    client?: ClientInfo,
  ): Promise<{ user: User; session: StartedSession }> {
    const { clock, changes, sessions } = this.#options
    const now: Micros = clock.now()
    const { organizationId } = user
    if (!(await acceptOpen(tx, invitation, now))) throw invalid()
    const by: AuditActor = { kind: 'user', id: user.id, method: 'invitation', credentialId: invitation.id }
    await revokeInvitations(tx, { organizationId, userIds: [user.id], actor: by, client, now })
    const active: User = { ...user, status: 'Active', verified: true, name: name ?? user.name, modifiedAt: now }
    await updateUser(tx, user, active)
    if (hash !== null) await setPasswordHash(tx, user.id, hash, now)
    await dropLinks(tx, user.id)
    const target = { type: 'user_invitations', id: invitation.id }
    await recordAudit(tx, {
      organizationId,
      action: 'invitation.accepted',
      actor: by,
      target,
      changes: { user: { new: user.id }, status: { old: user.status, new: active.status } },
      client,
    })
    const method = proof === 'none' ? 'invitation' : `invitation+${proof}`
    const session = await sessions.startSession(tx, active, client, method)
    changes.announce(tx)
    return { user: (await findUser(tx, organizationId, user.id)) as User, session }
  }

  /** One text for every bad token: unknown, used, expired, revoked, or of somebody who cannot be invited any more. */
  async #requireOpen(reader: Reader, token: string): Promise<{ invitation: Invitation; user: User }> {
    const hash = linkTokenHash(token)
    const invitation = hash && (await findInvitationByToken(reader, hash))
    if (!invitation || !isOpen(invitation, this.#options.clock.now())) throw invalid()
    const user = await findUser(reader, invitation.organizationId, invitation.userId)
    if (user === undefined || user.status !== 'Pending' || user.anonymizedAt !== null) throw invalid()
    return { invitation, user }
  }

  #checked(input: Acceptance, email: string): { password: string | undefined; name: string | null } {
    const { settings } = this.#options
    const problems: string[] = []
    const hasPasswords = settings.login_methods.includes('password')
    if (hasPasswords && input.password === undefined) problems.push('data.attributes.password is required')
    else if (hasPasswords) {
      const rules = { minLength: settings.password_min_length, email }
      const problem = passwordProblem(input.password as string, rules)
      if (problem !== undefined) problems.push(`data.attributes.password ${problem}`)
    }
    let name: string | null = null
    try {
      name = parseProfileText('data.attributes.name', input.name)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(...error.problems)
    }
    if (problems.length > 0) throw new AppError('invalid_argument', problems[0] as string, { problems })
    return { password: hasPasswords ? input.password : undefined, name }
  }
}

function refuseUninvitable(
  ids: readonly { text: string; id: UserId | undefined }[],
  users: ReadonlyMap<UserId, User>,
): void {
  const seen = new Set<string>()
  const problems: string[] = []
  for (const { text, id } of ids) {
    const user = id && users.get(id)
    const problem = user ? uninvitable(user) : 'not found'
    if (id !== undefined && seen.has(id)) problems.push(`User ${id} is named more than once`)
    else if (problem !== undefined) problems.push(`User ${id ?? text} ${problem}`)
    if (id !== undefined) seen.add(id)
  }
  if (problems.length > 0) throw new AppError('invalid_argument', 'Nobody was invited', { problems })
}

function uninvitable(user: User): string | undefined {
  if (user.serviceAccount) return 'is a service account'
  if (user.status === 'Active') return 'is already active'
  return user.status === 'Disabled' ? 'is disabled' : undefined
}

function invalid(): AppError {
  return new AppError('not_found', 'Invitation is not valid')
}
