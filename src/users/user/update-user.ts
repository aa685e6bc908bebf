import { auditChange, type Change, type ClientInfo } from '../../platform/audit/audit-change.ts'
import { actor } from '../../platform/audit/record.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { requireMatch } from '../../platform/http/answer/etag.ts'
import { answersStayAbout } from '../../platform/idempotency/idempotency.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { isUniqueViolation } from '../../platform/storage/storage-errors.ts'
import { refuseAgainstAdministrator, refuseForeignEmail, requireManager } from '../guards.ts'
import type { EmailChange } from '../invitation/email-verification.ts'
import { refuseAnonymized, requireUser } from '../look-up.ts'
import { requireOwner } from '../sign-in/recent-authentication.ts'
import { acceptEmail } from './accept-email.ts'
import { refuseToDisable, revokeAccess } from './disable-user.ts'
import { findUserByEmail, updateUser } from './store-users.ts'
import { parseProfileText, statusWhenEnabled, type User } from './user.ts'

export interface UpdateUserOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  settings: { allowed_email_domains: readonly string[] }
  /** What follows from a new address, in the same transaction. */
  onEmailChanged?: (tx: Transaction, change: EmailChange) => Promise<void>
  /** The tag of the user's document, for `If-Match`. */
  tagOf?: (tx: Transaction, user: User) => Promise<string>
}

/** What is absent stays as it is. */
export interface UserUpdate {
  userId: UserId
  name?: string | null
  title?: string | null
  email?: string
  disabled?: boolean
  /** The header as it was sent. */
  ifMatch?: string
  /** Of the caller's own account, which needs no right over others. */
  own?: boolean
}

export async function changeUser(
  options: UpdateUserOptions,
  principal: Principal,
  update: UserUpdate,
  client?: ClientInfo,
): Promise<User> {
  const email = update.email === undefined ? undefined : acceptEmail(update.email, [])
  const work = async (tx: Transaction) => {
    const user = await requireManaged(tx, principal, update)
    await requireMatchingTag(options, tx, user, update.ifMatch)
    refuseAnonymized(user)
    const changed = changedUser(user, { ...update, email })
    if (update.disabled === true) await refuseToDisable(tx, principal, user)
    if (changed.email !== user.email) await judgeEmail(tx, options, principal, user, changed.email)
    if (isSame(user, changed)) return user
    await refuseAgainstAdministrator(tx, principal, user, 'change')
    return store(tx, options, principal, { before: user, changed }, client)
  }
  // Two who take the same address at the same moment: the index lets one of them through.
  return options.db.write(work).catch((error: unknown) => {
    throw isUniqueViolation(error) && email !== undefined ? emailInUse(email) : error
  })
}

/** Throws unless the header, where there is one, names the user's document as it is now. */
export async function requireMatchingTag(
  { tagOf }: Pick<UpdateUserOptions, 'tagOf'>,
  tx: Transaction,
  user: User,
  ifMatch: string | undefined,
): Promise<void> {
  if (ifMatch !== undefined) requireMatch(ifMatch, (await tagOf?.(tx, user)) ?? null)
}

async function requireManaged(tx: Transaction, principal: Principal, update: UserUpdate): Promise<User> {
  if (update.own !== true) return requireManager(tx, principal, update.userId)
  return requireUser(tx, principal, update.userId)
}

function changedUser(user: User, update: UserUpdate): User {
  const email = update.email ?? user.email
  // The address of a service account is a contact; nobody proves it.
  const verified = user.verified && (email === user.email || user.serviceAccount)
  const isEnabled = update.disabled === false && user.status === 'Disabled'
  return {
    ...user,
    name: update.name === undefined ? user.name : parseProfileText('data.attributes.name', update.name),
    title: update.title === undefined ? user.title : parseProfileText('data.attributes.title', update.title),
    email,
    verified,
    status: update.disabled === true ? 'Disabled' : isEnabled ? statusWhenEnabled({ verified }) : user.status,
  }
}

async function judgeEmail(
  tx: Transaction,
  { settings, clock }: UpdateUserOptions,
  principal: Principal,
  user: User,
  email: string,
): Promise<void> {
  acceptEmail(email, settings.allowed_email_domains)
  // One's own also by the way that administrators have to everybody's. That of a service account opens nothing.
  if (principal.userId !== user.id) await refuseForeignEmail(tx, principal, user)
  else if (!user.serviceAccount) await requireOwner(tx, principal, clock.now())
  if (user.serviceAccount) return
  const holder = await findUserByEmail(tx, user.organizationId, email)
  if (holder !== undefined && holder.id !== user.id) throw emailInUse(email)
}

async function store(
  tx: Transaction,
  { clock, changes, onEmailChanged }: UpdateUserOptions,
  principal: Principal,
  { before, changed }: { before: User; changed: User },
  client?: ClientInfo,
): Promise<User> {
  const now = clock.now()
  const after = { ...changed, modifiedAt: now }
  await updateUser(tx, before, after)
  for (const event of eventsOf(before, after)) await auditChange(tx, principal, event, client)
  if (after.email !== before.email) {
    await answersStayAbout(tx, before.id, before.email)
    await onEmailChanged?.(tx, { before, after, actor: actor(principal), client })
  }
  if (after.status !== before.status && after.status === 'Disabled') {
    await revokeAccess(tx, principal, after, now, client)
  }
  // Also where no right changes: who is shown to everybody is not shown under an old name.
  changes.announce(tx)
  return after
}

function eventsOf(before: User, after: User): Change[] {
  const target = { type: 'users', id: after.id }
  const profile = differences(before, after, ['name', 'title'])
  const email = differences(before, after, ['email', 'verified'])
  const status = differences(before, after, ['status'])
  const events: Change[] = []
  if (profile !== undefined) events.push({ action: 'user.updated', target, changes: profile })
  if (email !== undefined) events.push({ action: 'user.email_changed', target, changes: email })
  if (status !== undefined) {
    events.push({ action: after.status === 'Disabled' ? 'user.disabled' : 'user.enabled', target, changes: status })
  }
  return events
}

function differences(before: User, after: User, members: (keyof User)[]): Change['changes'] | undefined {
  const changed = members.filter((member) => before[member] !== after[member])
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((member) => [member, { old: before[member], new: after[member] }]))
}

function isSame(before: User, after: User): boolean {
  return differences(before, after, ['name', 'title', 'email', 'status', 'verified']) === undefined
}

function emailInUse(email: string): AppError {
  return new AppError('unprocessable', `Email ${email} is already in use`)
}
