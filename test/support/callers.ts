import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import { permissionId } from '../../src/platform/auth/permissions.ts'
import type { Principal, UserId } from '../../src/platform/auth/principal.ts'
import { MICROS_PER_SECOND, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { CredentialService, findOperator, resolveRole, UserService } from '../../src/users/index.ts'
import { RoleService } from '../../src/users/role/role-service.ts'
import { silentLogger } from './silent-logger.ts'
import type { TestServer } from './start-server.ts'
import { client, type TestClient } from './test-client.ts'

export interface Caller {
  userId: UserId
  token: string
  client: TestClient
}

export interface Callers extends AsyncDisposable {
  /** The data of the server, as an operator at its side has it. */
  db: Database
  operator: Principal
  users: UserService
  /** A new Active user whose roles (managed ones by their short name) or permissions are these, with a token. */
  make(rights: CallerRights): Promise<Caller>
}

export interface CallerRights {
  email?: string
  name?: string
  roles?: readonly string[]
  /** In a role of its own; the base permissions come with it. */
  permissions?: readonly string[]
  /** What the token is narrowed to. */
  scopes?: readonly string[] | null
}

let made = 0

/** Whoever a test wants to call as, made beside the running server. */
export async function openCallers(server: TestServer): Promise<Callers> {
  const clock = new SystemClock()
  const { dataDir, databaseUrl } = server
  const db = await openDatabase({ dataDir, databaseUrl, poolSize: 2, clock, log: silentLogger() })
  const changes = new IdentityChanges(db)
  const operator = await findOperator(db)
  const users = new UserService({
    db,
    clock,
    changes,
    settings: { password_min_length: 12, allowed_email_domains: [] },
  } as ConstructorParameters<typeof UserService>[0])
  const roles = new RoleService({ db, clock, changes })
  const credentials = new CredentialService({ db, clock, changes })

  async function make(rights: CallerRights): Promise<Caller> {
    const { email = `caller-${++made}@example.org`, name, roles: names = [], permissions, scopes = null } = rights
    const roleIds = []
    for (const name of names) roleIds.push((await resolveRole(db, operator, name)).id)
    if (permissions !== undefined) {
      const wish = { name: email, permissionIds: permissions.map(permissionId) }
      roleIds.push((await roles.create(operator, wish)).id)
    }
    const { id: userId } = await users.create(operator, { email, name, roleIds, vouchedFor: true })
    const expiresAt = clock.now() + 3_600 * MICROS_PER_SECOND
    const { plain: token } = await credentials.createToken(operator, { userId, name: email, scopes, expiresAt })
    return { userId, token, client: client(server, { token }) }
  }

  return {
    db,
    operator,
    users,
    make,
    async [Symbol.asyncDispose]() {
      changes.close()
      await db.close()
    },
  }
}
