import type { Command } from 'commander'
import { NamespacePolicies, NamespaceService } from '../callbacks/index.ts'
import type { Principal } from '../platform/auth/principal.ts'
import { openCipher } from '../platform/secrets/open-cipher.ts'
import { findOperator } from '../users/index.ts'
import { type CliContext, withDatabase } from './with-database.ts'

export interface NamespacesContext extends CliContext {
  principal: Principal
  namespaces: NamespaceService
}

export function withNamespaces<T>(command: Command, work: (context: NamespacesContext) => Promise<T>): Promise<T> {
  return withDatabase(command, async (context) => {
    const { db, clock, settings } = context
    const principal = await findOperator(db)
    const cipher = await openCipher({ db, clock, encryptionKey: settings.auth.encryption_key, mayLock: false })
    const policies = new NamespacePolicies({ db, clock, cipher, settings: settings.callbacks })
    try {
      return await work({ ...context, principal, namespaces: new NamespaceService({ db, clock, cipher, policies }) })
    } finally {
      policies.close()
    }
  })
}
