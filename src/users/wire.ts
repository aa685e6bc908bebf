/** Resource objects as they travel: the only place where their member names appear. */
import { type Static, Type } from 'typebox'
import type { CataloguePermission } from '../platform/auth/permissions.ts'
import type { OrganizationsTable } from '../platform/auth/tables.ts'
import { toRfc3339, toRfc3339OrNull } from '../platform/clock/clock.ts'
import { nullable } from '../platform/http/input/nullable.ts'
import type { ListCounts } from './page.ts'
import { type IconProvider, iconUrl } from './user/icon.ts'
import type { Role, User } from './user/user.ts'

const time = () => Type.String({ format: 'date-time' })
const id = () => Type.String()

export function reference<const T extends string>(type: T) {
  return Type.Object({ id: id(), type: Type.Literal(type) })
}

export const UserResource = Type.Object({
  type: Type.Literal('users'),
  id: id(),
  attributes: Type.Object({
    created_at: time(),
    modified_at: time(),
    email: Type.String(),
    handle: Type.String(),
    name: nullable(Type.String()),
    title: nullable(Type.String()),
    icon: Type.String(),
    disabled: Type.Boolean(),
    status: Type.String(),
    verified: Type.Boolean(),
    service_account: Type.Boolean(),
    last_login_time: nullable(time()),
    mfa_enabled: Type.Boolean(),
    allowed_login_methods: Type.Array(Type.String()),
  }),
  relationships: Type.Object({
    org: Type.Object({ data: reference('orgs') }),
    roles: Type.Object({ data: Type.Array(reference('roles')) }),
    other_orgs: Type.Object({ data: Type.Array(reference('orgs')) }),
    other_users: Type.Object({ data: Type.Array(reference('users')) }),
  }),
})

const OrganizationResource = Type.Object({
  type: Type.Literal('orgs'),
  id: id(),
  attributes: Type.Object({
    created_at: time(),
    modified_at: time(),
    name: Type.String(),
    description: nullable(Type.String()),
    disabled: Type.Boolean(),
    public_id: Type.String(),
    sharing: Type.String(),
    url: Type.String(),
  }),
})

export const RoleResource = Type.Object({
  type: Type.Literal('roles'),
  id: id(),
  attributes: Type.Object({
    name: Type.String(),
    created_at: time(),
    modified_at: time(),
    receives_permissions_from: Type.Array(Type.String()),
    user_count: Type.Integer(),
    managed: Type.Boolean(),
  }),
  relationships: Type.Object({ permissions: Type.Object({ data: Type.Array(reference('permissions')) }) }),
})

export const PermissionResource = Type.Object({
  type: Type.Literal('permissions'),
  id: id(),
  attributes: Type.Object({
    created: time(),
    description: Type.String(),
    display_name: Type.String(),
    display_type: Type.String(),
    group_name: Type.String(),
    name: Type.String(),
    name_aliases: Type.Array(Type.String()),
    restricted: Type.Boolean(),
  }),
})

export const Included = Type.Array(Type.Union([OrganizationResource, RoleResource, PermissionResource]))
export const PageMeta = Type.Object({
  page: Type.Object({ total_count: Type.Integer(), total_filtered_count: Type.Integer() }),
})

export function pageMeta({ total, filtered }: ListCounts): Static<typeof PageMeta> {
  return { page: { total_count: total, total_filtered_count: filtered } }
}

export const UserDocument = Type.Object({ data: UserResource, included: Included })
export const UserListDocument = Type.Object({ data: Type.Array(UserResource), included: Included, meta: PageMeta })

export type WireUser = Static<typeof UserResource>
export type WireRole = Static<typeof RoleResource>
export type WirePermission = Static<typeof PermissionResource>
export type WireOrganization = Static<typeof OrganizationResource>

/** What a user document shows beside the user's own row. */
export interface UserFacts {
  roles: readonly Role[]
  mfaEnabled: boolean
}

export function userToWire(
  user: User,
  { roles, mfaEnabled }: UserFacts,
  baseUrl: string,
  iconProvider: IconProvider,
): WireUser {
  return {
    type: 'users',
    id: user.id,
    attributes: {
      created_at: toRfc3339(user.createdAt),
      modified_at: toRfc3339(user.modifiedAt),
      email: user.email,
      handle: user.handle,
      name: user.name,
      title: user.title,
      icon: iconUrl(user, baseUrl, iconProvider),
      disabled: user.status === 'Disabled',
      status: user.status,
      verified: user.verified,
      service_account: user.serviceAccount,
      last_login_time: toRfc3339OrNull(user.lastLoginAt),
      mfa_enabled: mfaEnabled,
      allowed_login_methods: user.allowedLoginMethods,
    },
    relationships: {
      org: { data: { id: user.organizationId, type: 'orgs' } },
      roles: { data: roles.map((role) => ({ id: role.id, type: 'roles' })) },
      other_orgs: { data: [] },
      other_users: { data: [] },
    },
  }
}

export function organizationToWire(organization: OrganizationsTable, baseUrl: string): WireOrganization {
  return {
    type: 'orgs',
    id: organization.id,
    attributes: {
      created_at: toRfc3339(organization.created_at),
      modified_at: toRfc3339(organization.modified_at),
      name: organization.name,
      description: organization.description,
      disabled: organization.disabled === 1,
      public_id: organization.public_id,
      sharing: organization.sharing,
      url: baseUrl,
    },
  }
}

export function roleToWire(role: Role, permissions: readonly CataloguePermission[], userCount: number): WireRole {
  return {
    type: 'roles',
    id: role.id,
    attributes: {
      name: role.name,
      created_at: toRfc3339(role.createdAt),
      modified_at: toRfc3339(role.modifiedAt),
      receives_permissions_from: role.receivesPermissionsFrom,
      user_count: userCount,
      managed: role.managed !== null,
    },
    relationships: {
      permissions: { data: permissions.map(({ id }) => ({ id, type: 'permissions' })) },
    },
  }
}

export function permissionToWire(permission: CataloguePermission): WirePermission {
  return {
    type: 'permissions',
    id: permission.id,
    attributes: {
      created: `${permission.created}T00:00:00.000Z`,
      description: permission.description,
      display_name: permission.displayName,
      display_type: permission.displayType,
      group_name: permission.group,
      name: permission.name,
      name_aliases: [],
      restricted: permission.restricted,
    },
  }
}
