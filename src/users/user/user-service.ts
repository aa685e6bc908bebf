/** What can be done with users. Who may do it is declared where the operation is; what nobody may do stands here. */

import { auditChange, type Change, type ClientInfo } from '../../platform/audit/audit-change.ts'
import { actor } from '../../platform/audit/record.ts'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { deleteSessionsOf } from '../credential/store-credentials.ts'
import { requireManager } from '../guards.ts'
import { revokeInvitations } from '../invitation/revoke-invitations.ts'
import { refuseAnonymized, requirePerson, requireRole, requireRoles, requireUser } from '../look-up.ts'
import { giveRole, takeRole } from '../role/role-membership.ts'
import { rolesOfUsers } from '../role/store-roles.ts'
import { hashPassword } from '../sign-in/password.ts'
import { passwordProblem } from '../sign-in/password-rules.ts'
import { replacePassword } from '../sign-in/replace-password.ts'
import { acceptEmail } from './accept-email.ts'
import { refuseToDisable, revokeAccess } from './disable-user.ts'
import { insertUser, listUsersByEmail, type UserPage, updateUser } from './store-users.ts'
import { changeUser, requireMatchingTag, type UpdateUserOptions, type UserUpdate } from './update-user.ts'
import { parseProfileText, type Role, statusWhenEnabled, type User } from './user.ts'

export interface UserServiceOptions extends UpdateUserOptions {
  settings: { password_min_length: number; allowed_email_domains: readonly string[] }
}

export interface NewUser {
  email: string
  name?: string | null
  title?: string | null
  roleIds?: readonly string[]
  /** The caller vouches for the address: Active at once instead of Pending. */
  vouchedFor?: boolean
}

type Disabling = Pick<UserUpdate, 'userId' | 'ifMatch'>

export interface ListedUser extends User {
  roles: Role[]
}

export class UserService {
  readonly #options: UserServiceOptions

  constructor(options: UserServiceOptions) {
    this.#options = options
  }

  /** `also` is part of the same transaction. */
  async create(
    principal: Principal,
    input: NewUser,
    client?: ClientInfo,
    also?: (tx: Transaction, user: User) => Promise<void>,
  ): Promise<User> {
    const { db, clock } = this.#options
    const email = acceptEmail(input.email, this.#options.settings.allowed_email_domains)
    const vouchedFor = input.vouchedFor === true
    const createdAt = clock.now()
    const user: User = {
      id: newId(),
      organizationId: principal.organizationId,
      email,
      handle: email,
      name: parseProfileText('name', input.name),
      title: parseProfileText('title', input.title),
      status: vouchedFor ? 'Active' : 'Pending',
      verified: vouchedFor,
      serviceAccount: false,
      anonymizedAt: null,
      lastLoginAt: null,
      allowedLoginMethods: [],
      createdAt,
      modifiedAt: createdAt,
    }
    const created = await db.write(
      async (tx) => {
        const roles = input.roleIds?.length ? await requireRoles(tx, principal, input.roleIds) : []
        // Nothing was written when the address is taken, so there is nothing to undo.
        if (!(await insertUser(tx, user))) return false
        const target = { type: 'users', id: user.id }
        await auditChange(tx, principal, { action: 'user.created', target }, client)
        for (const role of roles) await giveRole(tx, { principal, user, role, client }, this.#options)
        await also?.(tx, user)
        return true
      },
      // The index alone keeps an address unique; what a role holds must not change while it is judged.
      input.roleIds?.length ? {} : { isolation: 'read committed' },
    )
    if (!created) throw new AppError('conflict', `A user with email ${email} already exists`)
    return user
  }

  /** In order of address. */
  async list(principal: Principal, page: UserPage): Promise<ListedUser[]> {
    return this.#options.db.read(async (snapshot) => {
      const users = await listUsersByEmail(snapshot, principal.organizationId, page)
      const roles = await rolesOfUsers(
        snapshot,
        users.map((user) => user.id),
      )
      return users.map((user) => ({ ...user, roles: roles.get(user.id) ?? [] }))
    })
  }

  /** False when the user was Disabled already. */
  async disable(principal: Principal, input: Disabling, client?: ClientInfo): Promise<boolean> {
    return this.#options.db.write(async (tx) => {
      const user = await requireManager(tx, principal, input.userId)
      if (user.status === 'Disabled') return false
      await requireMatchingTag(this.#options, tx, user, input.ifMatch)
      await refuseToDisable(tx, principal, user)
      await this.#setStatus(tx, principal, user, { status: 'Disabled', verified: user.verified }, client)
      await revokeAccess(tx, principal, user, this.#options.clock.now(), client)
      return true
    })
  }

  /** The same for callers to whom a Disabled user is gone. */
  async disableOnce(principal: Principal, input: Disabling, client?: ClientInfo): Promise<void> {
    if (await this.disable(principal, input, client)) return
    throw new AppError('not_found', `User ${input.userId} not found`)
  }

  update(principal: Principal, update: UserUpdate, client?: ClientInfo): Promise<User> {
    return changeUser(this.#options, principal, update, client)
  }

  /** False when nothing changed. With `vouchedFor` the address counts as verified from now on. */
  async enable(
    principal: Principal,
    input: { userId: UserId; vouchedFor?: boolean },
    client?: ClientInfo,
  ): Promise<User & { changed: boolean }> {
    return this.#options.db.write(async (tx) => {
      const user = await requireUser(tx, principal, input.userId)
      refuseAnonymized(user)
      const verified = user.verified || input.vouchedFor === true
      const wanted = statusWhenEnabled({ verified })
      const isEnabled = user.status === 'Disabled' || (user.status === 'Pending' && wanted === 'Active')
      const status = isEnabled ? wanted : user.status
      // Somebody Active may have another address since, which counts as verified from now on.
      const changed = isEnabled || verified !== user.verified
      if (changed) await this.#setStatus(tx, principal, user, { status, verified }, client)
      if (isEnabled && status === 'Active') {
        const by = { organizationId: user.organizationId, actor: actor(principal), client }
        await revokeInvitations(tx, { ...by, userIds: [user.id], now: this.#options.clock.now() })
      }
      return { ...user, status, verified, changed }
    })
  }

  /** Every session of the user ends: whoever had got in with the old password is out, and stays out. */
  async setPassword(
    principal: Principal,
    input: { userId: UserId; password: string },
    client?: ClientInfo,
  ): Promise<void> {
    const { db, clock, changes, settings } = this.#options
    const { email } = await requirePerson(db, principal, input.userId)
    const problem = passwordProblem(input.password, { minLength: settings.password_min_length, email })
    if (problem !== undefined) throw new AppError('invalid_argument', `The password ${problem}`)
    const hash = await hashPassword(input.password)
    await db.write(async (tx) => {
      const user = await requirePerson(tx, principal, input.userId)
      await replacePassword(tx, user, { hash, by: actor(principal), now: clock.now() }, client)
      await deleteSessionsOf(tx, user.id)
      changes.announce(tx)
    })
  }

  /** False when the user had the role already. */
  async addRole(
    principal: Principal,
    input: { userId: UserId; roleId: RoleId },
    client?: ClientInfo,
  ): Promise<boolean> {
    return this.#changeMembership(principal, input, client, giveRole)
  }

  /** False when the user did not have the role. */
  async removeRole(
    principal: Principal,
    input: { userId: UserId; roleId: RoleId },
    client?: ClientInfo,
  ): Promise<boolean> {
    return this.#changeMembership(principal, input, client, takeRole)
  }

  async #changeMembership(
    principal: Principal,
    { userId, roleId }: { userId: UserId; roleId: RoleId },
    client: ClientInfo | undefined,
    change: typeof giveRole,
  ): Promise<boolean> {
    return this.#options.db.write(async (tx) => {
      const role = await requireRole(tx, principal, roleId)
      const user = await requireUser(tx, principal, userId)
      refuseAnonymized(user)
      return change(tx, { principal, user, role, client }, this.#options)
    })
  }

  async #setStatus(
    tx: Transaction,
    principal: Principal,
    user: User,
    to: Pick<User, 'status' | 'verified'>,
    client?: ClientInfo,
  ): Promise<void> {
    const at: Micros = this.#options.clock.now()
    await updateUser(tx, user, { ...user, ...to, modifiedAt: at })
    const target = { type: 'users', id: user.id }
    const change: Change =
      to.status === user.status
        ? { action: 'user.updated', target, changes: { verified: { old: user.verified, new: to.verified } } }
        : {
            action: to.status === 'Disabled' ? 'user.disabled' : 'user.enabled',
            target,
            changes: { status: { old: user.status, new: to.status } },
          }
    await auditChange(tx, principal, change, client)
    this.#options.changes.announce(tx)
  }
}
