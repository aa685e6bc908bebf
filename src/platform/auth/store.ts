/** One indexed statement per look-up: the credential, its owner and the owner's permissions in a single row. */
import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Transaction } from '../storage/database.ts'
import type { Engine } from '../storage/engine.ts'
import { type Statement, statement } from '../storage/statement.ts'
import type { Flag } from '../storage/tables.ts'
import type { OrganizationId, UserId } from './principal.ts'
import type { UserStatus } from './tables.ts'

export interface OwnerRow {
  user_id: UserId
  organization_id: OrganizationId
  status: UserStatus
  service_account: Flag
  /** Comma-separated names; null when the owner has no role. */
  permissions: string | null
}

export interface KeyRow extends OwnerRow {
  credential_id: string
  scopes: string | null
  expires_at: Micros | null
  /** Key pairs only. */
  api_key_id?: string
}

export interface SessionRow extends OwnerRow {
  credential_id: string
  csrf_token: string
  created_at: Micros
  last_seen_at: Micros
  expires_at: Micros
  has_second_factor: Flag
}

export const findToken: Statement<{ hash: string }, KeyRow> = statement((query, p, engine) =>
  query
    .selectFrom('access_tokens as credential')
    .innerJoin('users as u', 'u.id', 'credential.user_id')
    .select(['credential.id as credential_id', 'credential.scopes', 'credential.expires_at'])
    .select(['u.id as user_id', 'u.organization_id', 'u.status', 'u.service_account'])
    .select(permissionNames(engine).as('permissions'))
    .where('credential.secret_hash', '=', p('hash')),
)

/** The API key names the organization, the application key the user; both must belong together. */
export const findKeyPair: Statement<{ apiKeyHash: string; applicationKeyHash: string }, KeyRow> = statement(
  (query, p, engine) =>
    query
      .selectFrom('application_keys as credential')
      .innerJoin('users as u', 'u.id', 'credential.user_id')
      .innerJoin('api_keys as a', 'a.organization_id', 'u.organization_id')
      .select(['credential.id as credential_id', 'credential.scopes', 'a.id as api_key_id'])
      .select(sql<Micros | null>`null`.as('expires_at'))
      .select(['u.id as user_id', 'u.organization_id', 'u.status', 'u.service_account'])
      .select(permissionNames(engine).as('permissions'))
      .where('credential.secret_hash', '=', p('applicationKeyHash'))
      .where('a.secret_hash', '=', p('apiKeyHash')),
)

export const findSession: Statement<{ hash: string }, SessionRow> = statement((query, p, engine) =>
  query
    .selectFrom('sessions as credential')
    .innerJoin('users as u', 'u.id', 'credential.user_id')
    .select(['credential.id as credential_id', 'credential.csrf_token', 'credential.created_at'])
    .select(['credential.last_seen_at', 'credential.expires_at'])
    .select(hasSecondFactor.as('has_second_factor'))
    .select(['u.id as user_id', 'u.organization_id', 'u.status', 'u.service_account'])
    .select(permissionNames(engine).as('permissions'))
    .where('credential.secret_hash', '=', p('hash')),
)

/** The person whom `dev` trusts: the oldest administrator who is still Active. */
export const findFirstAdministrator: Statement<object, OwnerRow> = statement((query, _p, engine) =>
  query
    .selectFrom('roles as r')
    .innerJoin('user_roles as member', 'member.role_id', 'r.id')
    .innerJoin('users as u', 'u.id', 'member.user_id')
    .select(['u.id as user_id', 'u.organization_id', 'u.status', 'u.service_account'])
    .select(permissionNames(engine).as('permissions'))
    .where('r.managed', '=', 'admin')
    .where('u.status', '=', 'Active')
    .where('u.service_account', '=', 0)
    .orderBy('u.created_at')
    .orderBy('u.id')
    .limit(1),
)

const hasSecondFactor = sql<Flag>`(
  select count(*) from user_totp f where f.user_id = u.id and f.confirmed_at is not null)`

function permissionNames(engine: Engine): RawBuilder<string | null> {
  const names = engine === 'sqlite' ? sql`group_concat(distinct p.name)` : sql`string_agg(distinct p.name, ',')`
  return sql`(
    select ${names} from user_roles ur
    join role_permissions rp on rp.role_id = ur.role_id
    join permissions p on p.id = rp.permission_id
    where ur.user_id = u.id)`
}

export type UsedCredential = 'access_tokens' | 'application_keys' | 'sessions'

/** Never moves a time back: several processes report uses of the same credential. */
export async function recordUse(tx: Transaction, table: UsedCredential, id: string, at: Micros): Promise<void> {
  await tx.run(RECORD_USE[table], { id, at })
}

const RECORD_USE: Record<UsedCredential, Statement<{ id: string; at: Micros }, never>> = {
  access_tokens: touchLastUsed('access_tokens'),
  application_keys: touchLastUsed('application_keys'),
  sessions: statement((query, p) =>
    query
      .updateTable('sessions')
      .set({ last_seen_at: p('at') })
      .where('id', '=', p('id'))
      .where('last_seen_at', '<', p('at')),
  ),
}

function touchLastUsed(table: 'access_tokens' | 'application_keys') {
  return statement<{ id: string; at: Micros }>((query, p) =>
    query
      .updateTable(table)
      .set({ last_used_at: p('at') })
      .where('id', '=', p('id'))
      .where((condition) =>
        condition.or([condition('last_used_at', 'is', null), condition('last_used_at', '<', p('at'))]),
      ),
  )
}
