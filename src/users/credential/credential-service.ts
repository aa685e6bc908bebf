/** Makes tokens and keys. A plain secret leaves this file once, in the answer of the call that made it. */

import { auditChange, type Change, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import { type MintedSecret, mintAccessToken, mintApiKey, mintApplicationKey } from '../../platform/auth/secrets.ts'
import type { Clock, Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { parseLabel } from '../label.ts'
import {
  type AccessToken,
  type ApiKey,
  type ApplicationKey,
  newAccessToken,
  newApiKey,
  newApplicationKey,
  parseExpiry,
  parseScopes,
} from './credential.ts'
import { judgeNewKey } from './credential-guards.ts'
import { allApiKeys, deleteApiKey, insertApiKey } from './store-api-keys.ts'
import { allOwned, deleteOwned, insertAccessToken, insertApplicationKey } from './store-credentials.ts'

export interface CredentialServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
}

export interface NewKey {
  userId: UserId
  name: string
  scopes: readonly string[] | null
}

export interface NewToken extends NewKey {
  expiresAt: Micros
}

/** Part of the transaction that makes it. */
type AlsoInMaking<T> = (tx: Transaction, made: T) => Promise<void>

/** The resource and, this once, its secret. */
export type Minted<T> = T & { plain: string }

export interface KeyPair {
  apiKey: Minted<ApiKey>
  applicationKey: Minted<ApplicationKey>
}

export interface CredentialList {
  tokens: AccessToken[]
  applicationKeys: ApplicationKey[]
  apiKeys: ApiKey[]
}

export class CredentialService {
  readonly #options: CredentialServiceOptions

  constructor(options: CredentialServiceOptions) {
    this.#options = options
  }

  async createToken(
    principal: Principal,
    input: NewToken,
    client?: ClientInfo,
    also?: AlsoInMaking<AccessToken>,
  ): Promise<Minted<AccessToken>> {
    const now = this.#options.clock.now()
    const secret = mintAccessToken()
    const token = newAccessToken({ ...parseKey(input), now }, parseExpiry(input.expiresAt, now), secret)
    await this.#options.db.write(async (tx) => {
      await judgeNewKey(tx, principal, token)
      await insertAccessToken(tx, token, secret)
      await auditChange(tx, principal, created('token.created', 'personal_access_tokens', token), client)
      await also?.(tx, token)
    })
    return { ...token, plain: secret.plain }
  }

  async createApplicationKey(
    principal: Principal,
    input: NewKey,
    client?: ClientInfo,
    also?: AlsoInMaking<ApplicationKey>,
  ): Promise<Minted<ApplicationKey>> {
    const secret = mintApplicationKey()
    const key = newApplicationKey({ ...parseKey(input), now: this.#options.clock.now() }, secret)
    await this.#options.db.write(async (tx) => {
      await storeApplicationKey(tx, principal, key, secret, client)
      await also?.(tx, key)
    })
    return { ...key, plain: secret.plain }
  }

  async createApiKey(
    principal: Principal,
    input: { name: string },
    client?: ClientInfo,
    also?: AlsoInMaking<ApiKey>,
  ): Promise<Minted<ApiKey>> {
    const secret = mintApiKey()
    const key = this.#newApiKey(principal, parseLabel(input.name), secret)
    await this.#options.db.write(async (tx) => {
      await storeApiKey(tx, principal, key, secret, client)
      await also?.(tx, key)
    })
    return { ...key, plain: secret.plain }
  }

  /** Both halves, or neither. */
  async createKeyPair(principal: Principal, input: NewKey, client?: ClientInfo): Promise<KeyPair> {
    const parsed = parseKey(input)
    const [apiSecret, applicationSecret] = [mintApiKey(), mintApplicationKey()]
    const apiKey = this.#newApiKey(principal, parsed.name, apiSecret)
    const applicationKey = newApplicationKey({ ...parsed, now: this.#options.clock.now() }, applicationSecret)
    await this.#options.db.write(async (tx) => {
      await storeApiKey(tx, principal, apiKey, apiSecret, client)
      await storeApplicationKey(tx, principal, applicationKey, applicationSecret, client)
    })
    return {
      apiKey: { ...apiKey, plain: apiSecret.plain },
      applicationKey: { ...applicationKey, plain: applicationSecret.plain },
    }
  }

  /** Of one user, or of the whole organization. API keys belong to nobody and are always listed. */
  async list(principal: Principal, input: { userId: UserId | null }): Promise<CredentialList> {
    const ownership = { organizationId: principal.organizationId, userId: input.userId }
    return this.#options.db.read(async (snapshot) => ({
      tokens: await allOwned(snapshot, 'access_tokens', ownership),
      applicationKeys: await allOwned(snapshot, 'application_keys', ownership),
      apiKeys: await allApiKeys(snapshot, principal.organizationId),
    }))
  }

  /** By id, whatever it is: a token, an application key or an API key. */
  async revoke(principal: Principal, input: { id: string }, client?: ClientInfo): Promise<void> {
    await this.#options.db.write(async (tx) => {
      const type = await deleteCredential(tx, principal, input.id)
      if (type === undefined) throw new AppError('not_found', `There is no token or key with the id ${input.id}`)
      const action = type === 'personal_access_tokens' ? 'token.revoked' : 'key.revoked'
      await auditChange(tx, principal, { action, target: { type, id: input.id } }, client)
      this.#options.changes.announce(tx)
    })
  }

  #newApiKey({ organizationId, userId }: Principal, name: string, secret: MintedSecret): ApiKey {
    return newApiKey({ organizationId, name, createdBy: userId, now: this.#options.clock.now() }, secret)
  }
}

async function storeApplicationKey(
  tx: Transaction,
  principal: Principal,
  key: ApplicationKey,
  secret: MintedSecret,
  client?: ClientInfo,
): Promise<void> {
  await judgeNewKey(tx, principal, key)
  await insertApplicationKey(tx, key, secret)
  await auditChange(tx, principal, created('key.created', 'application_keys', key), client)
}

async function storeApiKey(
  tx: Transaction,
  principal: Principal,
  key: ApiKey,
  secret: MintedSecret,
  client?: ClientInfo,
): Promise<void> {
  await insertApiKey(tx, key, secret)
  const changes = { name: { new: key.name } }
  await auditChange(tx, principal, { action: 'key.created', target: { type: 'api_keys', id: key.id }, changes }, client)
}

function created(action: string, type: string, { id, userId, name, scopes }: ApplicationKey): Change {
  const changes = { owner: { new: userId }, name: { new: name }, scopes: { new: scopes } }
  return { action, target: { type, id }, changes }
}

async function deleteCredential(tx: Transaction, principal: Principal, id: string): Promise<string | undefined> {
  const { organizationId } = principal
  const anybodys = { organizationId, userId: null }
  if (await deleteOwned(tx, 'access_tokens', anybodys, id)) return 'personal_access_tokens'
  if (await deleteOwned(tx, 'application_keys', anybodys, id)) return 'application_keys'
  if (principal.apiKeyId === id) throw apiKeyInUse()
  return (await deleteApiKey(tx, organizationId, id)) ? 'api_keys' : undefined
}

/** Whoever revoked it would be locked out by the very answer. */
export function apiKeyInUse(): AppError {
  return new AppError('permission_denied', 'The API key in use cannot be revoked')
}

function parseKey(input: NewKey) {
  return { userId: input.userId, name: parseLabel(input.name), scopes: parseScopes(input.scopes) }
}
