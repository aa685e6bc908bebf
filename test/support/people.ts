import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { MICROS_PER_SECOND, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { CredentialService, findOperator, resolveRole, UserService } from '../../src/users/index.ts'

export interface People {
  /** Somebody who can be invited. */
  pending(email: string): Promise<UserId>
  active(email: string, role?: string): Promise<UserId>
  /** The token of somebody new in a role (`admin`, `standard`, `read_only`) or in none. */
  token(email: string, role?: string): Promise<string>
}

/** Puts people into the database of a running server, as an operator at the command line would. */
export async function peopleIn(db: Database): Promise<People> {
  const clock = new SystemClock()
  const changes = new IdentityChanges(db)
  const settings = { password_min_length: 12, allowed_email_domains: [] }
  const users = new UserService({ db, clock, changes, settings })
  const credentials = new CredentialService({ db, clock, changes })
  const operator = await findOperator(db)
  const create = async (email: string, vouchedFor: boolean, role?: string) => {
    const roleIds = role === undefined ? [] : [(await resolveRole(db, operator, role)).id]
    return (await users.create(operator, { email, roleIds, vouchedFor })).id
  }
  return {
    pending: (email) => create(email, false),
    active: (email, role) => create(email, true, role),
    async token(email, role) {
      const userId = await create(email, true, role)
      const expiresAt = clock.now() + 3_600 * MICROS_PER_SECOND
      const { plain } = await credentials.createToken(operator, { userId, name: 'test', scopes: null, expiresAt })
      return plain
    },
  }
}
