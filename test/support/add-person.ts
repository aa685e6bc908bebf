import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { findOperator, resolveRole, UserService } from '../../src/users/index.ts'
import { silentLogger } from './silent-logger.ts'
import type { TestServer } from './start-server.ts'

/** Somebody who can sign in, put into the database of a running server as `commonplace user` would do it. */
export async function addPerson(
  { dataDir, databaseUrl }: Pick<TestServer, 'dataDir' | 'databaseUrl'>,
  person: { email: string; password: string; role?: string },
): Promise<UserId> {
  const clock = new SystemClock()
  await using db = await openDatabase({ dataDir, databaseUrl, clock, log: silentLogger() })
  const changes = new IdentityChanges(db)
  try {
    const settings = { password_min_length: 12, allowed_email_domains: [] }
    const users = new UserService({ db, clock, changes, settings })
    const operator = await findOperator(db)
    const roleIds = person.role === undefined ? [] : [(await resolveRole(db, operator, person.role)).id]
    const { id } = await users.create(operator, { email: person.email, roleIds, vouchedFor: true })
    await users.setPassword(operator, { userId: id, password: person.password })
    return id
  } finally {
    changes.close()
  }
}
