import { type Id, nameId } from '../ids/uuid.ts'

export type PermissionId = Id<'Permission'>
export type DisplayType = 'read' | 'write' | 'other'
/** The managed role that holds the permission; the roles above it hold it, too. */
export type LowestRole = 'admin' | 'standard' | 'read_only'

export interface Permission {
  name: string
  displayName: string
  description: string
  group: string
  displayType: DisplayType
  /** A base permission: it belongs to every role and cannot be taken away. */
  restricted: boolean
  lowestRole: LowestRole
  /** The day the release came out that brought it. */
  created: string
}

// NOTE Never change: ids of permissions are made from it and must be equal on every instance, in every version.
const NAMESPACE = 'b27e6d0c-93a9-49f4-aea4-da0c7e3eb612'

const FOUNDATION = '2026-11-15'

/**
 * The permission catalogue. To add one: append it here with the date of the release; the next start introduces it
 * and grants it to the managed roles and to the custom roles that receive from them. A name is never reused.
 */
const CATALOGUE = [
  {
    name: 'admin',
    displayName: 'Full administration',
    description: 'Do everything: whoever holds it passes every permission check.',
    group: 'General',
    displayType: 'other',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'user_access_read',
    displayName: 'Users Read',
    description: 'See users, roles and the permissions behind them.',
    group: 'Access Management',
    displayType: 'read',
    restricted: true,
    lowestRole: 'read_only',
    created: FOUNDATION,
  },
  {
    name: 'user_access_invite',
    displayName: 'Users Invite',
    description: 'Create users and send, see and revoke their invitations.',
    group: 'Access Management',
    displayType: 'write',
    restricted: false,
    lowestRole: 'standard',
    created: FOUNDATION,
  },
  {
    name: 'user_access_manage',
    displayName: 'Users Manage',
    description: 'Change, disable and anonymize users, and change roles and who holds them.',
    group: 'Access Management',
    displayType: 'write',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'user_self_profile_write',
    displayName: 'Own Profile Write',
    description: "Change one's own name, title and email address.",
    group: 'Access Management',
    displayType: 'write',
    restricted: false,
    lowestRole: 'read_only',
    created: FOUNDATION,
  },
  {
    name: 'service_account_write',
    displayName: 'Service Accounts Write',
    description: 'Create, change and disable service accounts and manage their application keys.',
    group: 'Access Management',
    displayType: 'write',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'org_management',
    displayName: 'Organization and Instance Settings',
    description: 'Change the settings of the organization and the public face of the instance.',
    group: 'Organization',
    displayType: 'write',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'audit_logs_read',
    displayName: 'Audit Log Read',
    description: 'Read and export the audit log: who changed what, when and from where.',
    group: 'Compliance',
    displayType: 'read',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'user_app_keys',
    displayName: 'Own Application Keys',
    description: "Create, see and revoke one's own application keys and personal access tokens.",
    group: 'Keys',
    displayType: 'write',
    restricted: false,
    lowestRole: 'standard',
    created: FOUNDATION,
  },
  {
    name: 'org_app_keys_manage',
    displayName: 'All Application Keys',
    description: 'See, change and revoke the application keys of everybody in the organization.',
    group: 'Keys',
    displayType: 'write',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'api_keys_read',
    displayName: 'API Keys Read',
    description: 'List the API keys of the organization; their secrets are never shown again.',
    group: 'Keys',
    displayType: 'read',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'api_keys_write',
    displayName: 'API Keys Write',
    description: 'Create, rename and revoke the API keys of the organization.',
    group: 'Keys',
    displayType: 'write',
    restricted: false,
    lowestRole: 'admin',
    created: FOUNDATION,
  },
  {
    name: 'projects_read',
    displayName: 'Projects Read',
    description: 'See the projects and their statistics.',
    group: 'Projects',
    displayType: 'read',
    restricted: true,
    lowestRole: 'read_only',
    created: FOUNDATION,
  },
  {
    name: 'projects_write',
    displayName: 'Projects Write',
    description: 'Create, rename, re-index and delete projects.',
    group: 'Projects',
    displayType: 'write',
    restricted: false,
    lowestRole: 'standard',
    created: FOUNDATION,
  },
  {
    name: 'notes_read',
    displayName: 'Notes Read',
    description: 'Read and search notes and the graph of their links.',
    group: 'Notes',
    displayType: 'read',
    restricted: true,
    lowestRole: 'read_only',
    created: FOUNDATION,
  },
  {
    name: 'notes_write',
    displayName: 'Notes Write',
    description: 'Create, edit, move, import and delete notes.',
    group: 'Notes',
    displayType: 'write',
    restricted: false,
    lowestRole: 'standard',
    created: FOUNDATION,
  },
  {
    name: 'callbacks_read',
    displayName: 'Callback Executions Read',
    description: 'Describe, list, count and wait for callback executions.',
    group: 'Callbacks',
    displayType: 'read',
    restricted: false,
    lowestRole: 'read_only',
    created: FOUNDATION,
  },
  {
    name: 'callbacks_write',
    displayName: 'Callback Executions Write',
    description: 'Start, terminate and delete callback executions.',
    group: 'Callbacks',
    displayType: 'write',
    restricted: false,
    lowestRole: 'standard',
    created: FOUNDATION,
  },
] as const satisfies Permission[]

export type PermissionName = (typeof CATALOGUE)[number]['name']

export interface CataloguePermission extends Permission {
  id: PermissionId
  name: PermissionName
}

export const PERMISSIONS: readonly CataloguePermission[] = CATALOGUE.map((permission) => ({
  ...permission,
  id: permissionId(permission.name),
}))

const BY_NAME = new Map<string, CataloguePermission>(PERMISSIONS.map((permission) => [permission.name, permission]))

/** Deterministic, so that scripts written for one instance work on another. */
export function permissionId(name: string): PermissionId {
  return nameId<'Permission'>(NAMESPACE, name)
}

export function findPermission(name: string): CataloguePermission | undefined {
  return BY_NAME.get(name)
}

export function isPermissionName(name: string): name is PermissionName {
  return BY_NAME.has(name)
}
