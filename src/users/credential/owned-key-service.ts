/** Tokens and application keys once they are made: seen, renamed, narrowed, revoked. Their secrets are gone by now. */

import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { parseLabel } from '../label.ts'
import type { ListCounts } from '../page.ts'
import { type OwnedCredentials, type OwnedCredentialTable, parseScopes } from './credential.ts'
import { judgeScopes } from './credential-guards.ts'
import type { CredentialServiceOptions } from './credential-service.ts'
import { deleteOwned, findOwned, listOwned, type OwnedQuery, updateOwned } from './store-credentials.ts'

/** Whose: one user's, or (null) anybody's. */
type Owner = UserId | null

export interface OwnedKeyUpdate {
  id: string
  name?: string
  scopes?: readonly string[] | null
}

const WORDS = {
  access_tokens: { what: 'Personal access token', type: 'personal_access_tokens', noun: 'token' },
  application_keys: { what: 'Application key', type: 'application_keys', noun: 'key' },
} as const

export class OwnedKeyService<T extends OwnedCredentialTable> {
  readonly #options: CredentialServiceOptions
  readonly #table: T

  constructor(options: CredentialServiceOptions, table: T) {
    this.#options = options
    this.#table = table
  }

  async list(
    principal: Principal,
    owner: Owner,
    query: OwnedQuery,
  ): Promise<ListCounts & { items: OwnedCredentials[T][] }> {
    const ownership = { organizationId: principal.organizationId, userId: owner }
    return this.#options.db.read((snapshot) => listOwned(snapshot, this.#table, ownership, query))
  }

  async get(principal: Principal, owner: Owner, id: string): Promise<OwnedCredentials[T]> {
    return this.#require(this.#options.db, principal, owner, id)
  }

  async update(
    principal: Principal,
    owner: Owner,
    input: OwnedKeyUpdate,
    client?: ClientInfo,
  ): Promise<OwnedCredentials[T]> {
    const { type, noun } = WORDS[this.#table]
    return this.#options.db.write(async (tx) => {
      const before = await this.#require(tx, principal, owner, input.id)
      const after = {
        ...before,
        name: input.name === undefined ? before.name : parseLabel(input.name),
        scopes: input.scopes === undefined ? before.scopes : parseScopes(input.scopes),
      }
      const changes = changesOf(before, after)
      if (Object.keys(changes).length === 0) return before
      await judgeScopes(tx, principal, before, after.scopes, this.#options.clock.now())
      await updateOwned(tx, this.#table, after)
      await auditChange(tx, principal, { action: `${noun}.updated`, target: { type, id: before.id }, changes }, client)
      this.#options.changes.announce(tx)
      return after
    })
  }

  async revoke(principal: Principal, owner: Owner, id: string, client?: ClientInfo): Promise<void> {
    const { type, noun } = WORDS[this.#table]
    const ownership = { organizationId: principal.organizationId, userId: owner }
    await this.#options.db.write(async (tx) => {
      if ((await deleteOwned(tx, this.#table, ownership, id)) === undefined) throw this.#unknown(id)
      await auditChange(tx, principal, { action: `${noun}.revoked`, target: { type, id } }, client)
      this.#options.changes.announce(tx)
    })
  }

  async #require(reader: Reader, principal: Principal, owner: Owner, id: string): Promise<OwnedCredentials[T]> {
    const ownership = { organizationId: principal.organizationId, userId: owner }
    const found = await findOwned(reader, this.#table, ownership, id)
    if (found === undefined) throw this.#unknown(id)
    return found
  }

  #unknown(id: string): AppError {
    return new AppError('not_found', `${WORDS[this.#table].what} ${id} not found`)
  }
}

type Changeable = Pick<OwnedCredentials['application_keys'], 'name' | 'scopes'>

function changesOf(before: Changeable, after: Changeable) {
  const changes: Record<string, { old: unknown; new: unknown }> = {}
  if (before.name !== after.name) changes.name = { old: before.name, new: after.name }
  if (JSON.stringify(before.scopes) !== JSON.stringify(after.scopes)) {
    changes.scopes = { old: before.scopes, new: after.scopes }
  }
  return changes
}
