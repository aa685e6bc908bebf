/** API keys once they are made; credential-service.ts makes them. */

import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { parseLabel } from '../label.ts'
import type { ListCounts } from '../page.ts'
import type { ApiKey } from './credential.ts'
import { apiKeyInUse, type CredentialServiceOptions } from './credential-service.ts'
import { type ApiKeyQuery, deleteApiKey, findApiKey, listApiKeys, updateApiKey } from './store-api-keys.ts'

export class ApiKeyService {
  readonly #options: CredentialServiceOptions

  constructor(options: CredentialServiceOptions) {
    this.#options = options
  }

  async list(principal: Principal, query: ApiKeyQuery): Promise<ListCounts & { items: ApiKey[] }> {
    return this.#options.db.read((snapshot) => listApiKeys(snapshot, principal.organizationId, query))
  }

  async get(principal: Principal, id: string): Promise<ApiKey> {
    return requireApiKey(this.#options.db, principal, id)
  }

  async rename(principal: Principal, input: { id: string; name: string }, client?: ClientInfo): Promise<ApiKey> {
    const name = parseLabel(input.name)
    return this.#options.db.write(async (tx) => {
      const before = await requireApiKey(tx, principal, input.id)
      if (before.name === name) return before
      const after = { ...before, name, modifiedBy: principal.userId, modifiedAt: this.#options.clock.now() }
      await updateApiKey(tx, after)
      const changes = { name: { old: before.name, new: name } }
      const target = { type: 'api_keys', id: before.id }
      await auditChange(tx, principal, { action: 'key.updated', target, changes }, client)
      return after
    })
  }

  async revoke(principal: Principal, id: string, client?: ClientInfo): Promise<void> {
    await this.#options.db.write(async (tx) => {
      await requireApiKey(tx, principal, id)
      if (principal.apiKeyId === id) throw apiKeyInUse()
      await deleteApiKey(tx, principal.organizationId, id)
      await auditChange(tx, principal, { action: 'key.revoked', target: { type: 'api_keys', id } }, client)
      this.#options.changes.announce(tx)
    })
  }
}

async function requireApiKey(reader: Reader, principal: Principal, id: string): Promise<ApiKey> {
  const key = await findApiKey(reader, principal.organizationId, id)
  if (key === undefined) throw new AppError('not_found', `API key ${id} not found`)
  return key
}
