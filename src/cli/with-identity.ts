import type { Command } from 'commander'
import { IdentityChanges } from '../platform/auth/identity-changes.ts'
import type { Principal } from '../platform/auth/principal.ts'
import { CredentialService, findOperator, RoleReader, ServiceAccountService, UserService } from '../users/index.ts'
import { type CliContext, withDatabase } from './with-database.ts'

export interface IdentityContext extends CliContext {
  principal: Principal
  changes: IdentityChanges
  users: UserService
  credentials: CredentialService
  roles: RoleReader
  serviceAccounts: ServiceAccountService
}

/** Opens storage and acts as the operator: whoever can reach the database may do everything. */
export function withIdentity<T>(command: Command, work: (context: IdentityContext) => Promise<T>): Promise<T> {
  return withDatabase(command, async (context) => {
    const { db, clock, settings } = context
    const principal = await findOperator(db)
    const changes = new IdentityChanges(db)
    try {
      return await work({
        ...context,
        principal,
        changes,
        users: new UserService({ db, clock, changes, settings: settings.users }),
        credentials: new CredentialService({ db, clock, changes }),
        roles: new RoleReader({ db }),
        serviceAccounts: new ServiceAccountService({ db, clock, changes, settings: settings.users }),
      })
    } finally {
      changes.close()
    }
  })
}
