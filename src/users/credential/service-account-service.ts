/** Users that are programs: Active at once, without a password, known by their keys. */

import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { requireRoles } from '../look-up.ts'
import { giveRole } from '../role/role-membership.ts'
import { acceptEmail } from '../user/accept-email.ts'
import { insertUser } from '../user/store-users.ts'
import { parseProfileText, type User } from '../user/user.ts'

export interface ServiceAccountServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  settings: { allowed_email_domains: readonly string[] }
}

export interface NewServiceAccount {
  /** Whom to ask about it; several accounts may share one. */
  email: string
  name?: string | null
  title?: string | null
  roleIds?: readonly string[]
}

export class ServiceAccountService {
  readonly #options: ServiceAccountServiceOptions

  constructor(options: ServiceAccountServiceOptions) {
    this.#options = options
  }

  /** `also` is part of the same transaction. */
  async create(
    principal: Principal,
    input: NewServiceAccount,
    client?: ClientInfo,
    also?: (tx: Transaction, user: User) => Promise<void>,
  ): Promise<User> {
    const { db, clock, settings } = this.#options
    const id: UserId = newId()
    const createdAt = clock.now()
    const user: User = {
      id,
      organizationId: principal.organizationId,
      email: acceptEmail(input.email, settings.allowed_email_domains),
      handle: id,
      name: parseProfileText('name', input.name),
      title: parseProfileText('title', input.title),
      status: 'Active',
      verified: true,
      serviceAccount: true,
      anonymizedAt: null,
      lastLoginAt: null,
      allowedLoginMethods: [],
      createdAt,
      modifiedAt: createdAt,
    }
    await db.write(async (tx) => {
      const roles = await requireRoles(tx, principal, input.roleIds ?? [])
      await insertUser(tx, user)
      await auditChange(tx, principal, { action: 'user.created', target: { type: 'users', id } }, client)
      for (const role of roles) {
        await giveRole(tx, { principal, user, role, client }, this.#options)
      }
      await also?.(tx, user)
    })
    return user
  }
}
