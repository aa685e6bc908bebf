/** Who exists and how they prove it. The users feature owns the life cycles; authentication only reads. */
import type { Micros } from '../clock/clock.ts'
import type { Flag, Generated } from '../storage/tables.ts'
import type { ManagedRoleKey, RoleId } from './managed-roles.ts'
import type { PermissionId } from './permissions.ts'
import type { OrganizationId, UserId } from './principal.ts'

export type UserStatus = 'Pending' | 'Active' | 'Disabled'

export interface OrganizationsTable {
  id: OrganizationId
  public_id: string
  name: string
  description: string | null
  disabled: Flag
  sharing: string
  created_at: Micros
  modified_at: Micros
}

export interface UsersTable {
  /** Counted up by the database; ties the search index to the row and never leaves the server. */
  number: Generated<number>
  id: UserId
  organization_id: OrganizationId
  email: string
  handle: string
  name: string | null
  title: string | null
  status: UserStatus
  verified: Flag
  service_account: Flag
  anonymized_at: Micros | null
  last_login_at: Micros | null
  created_at: Micros
  modified_at: Micros
  /** What lists are sorted and searched by; see users/user/user-keys.ts. */
  name_key: string
  title_key: string
  email_key: string
  handle_key: string
  /** Whether the handle differs from the address. */
  own_handle: Flag
  login_key: number
  list_group: number
  search_text: string
  /** JSON array. */
  allowed_login_methods: string
}

export interface PermissionsTable {
  id: PermissionId
  name: string
  created_at: Micros
}

export interface RolesTable {
  id: RoleId
  organization_id: OrganizationId
  name: string
  managed: ManagedRoleKey | null
  /** JSON array of managed role names. */
  receives_permissions_from: string
  created_at: Micros
  modified_at: Micros
  /** What lists are sorted and searched by, here and in the next three: the name in lower case. */
  name_key: string
  /** Set while it is taken from its members: to everybody it is gone. */
  deleted_at?: Micros | null
}

export interface RolePermissionsTable {
  role_id: RoleId
  permission_id: PermissionId
}

export interface UserRolesTable {
  user_id: UserId
  role_id: RoleId
  created_at: Micros
}

export interface ApiKeysTable {
  id: string
  organization_id: OrganizationId
  name: string
  secret_hash: string
  last4: string
  created_by: UserId | null
  modified_by: UserId | null
  created_at: Micros
  modified_at: Micros
  name_key: string
}

export interface ApplicationKeysTable {
  id: string
  user_id: UserId
  name: string
  secret_hash: string
  last4: string
  /** JSON array of permission names; null for all that the owner has. */
  scopes: string | null
  created_at: Micros
  last_used_at: Micros | null
  name_key: string
}

export interface AccessTokensTable extends ApplicationKeysTable {
  public_portion: string
  /** Null only for the first administrator's token. */
  expires_at: Micros | null
}

export interface SessionsTable {
  id: string
  user_id: UserId
  secret_hash: string
  csrf_token: string
  client_address: string | null
  user_agent: string | null
  created_at: Micros
  last_seen_at: Micros
  /** When a password or second factor was last proved. */
  authenticated_at: Micros
  expires_at: Micros
}

declare module '../storage/tables.ts' {
  interface Tables {
    organizations: OrganizationsTable
    users: UsersTable
    permissions: PermissionsTable
    roles: RolesTable
    role_permissions: RolePermissionsTable
    user_roles: UserRolesTable
    api_keys: ApiKeysTable
    application_keys: ApplicationKeysTable
    access_tokens: AccessTokensTable
    sessions: SessionsTable
  }
}
