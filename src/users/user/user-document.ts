/** User documents: the users with everything they refer to, each thing once. */
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { OrganizationsTable } from '../../platform/auth/tables.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { weakETag } from '../../platform/http/answer/etag.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import { catalogueOrder } from '../role/catalogue-order.ts'
import { type HeldRole, RoleCache, readRoles } from '../role/role-cache.ts'
import { roleTally } from '../role/store-roles.ts'
import {
  organizationToWire,
  permissionToWire,
  roleToWire,
  userToWire,
  type WireOrganization,
  type WirePermission,
  type WireRole,
  type WireUser,
} from '../wire.ts'
import type { IconProvider } from './icon.ts'
import { roleIdsOfUsers, usersWithMfa } from './store-user-facts.ts'
import { findOrganization } from './store-users.ts'
import type { Role, User } from './user.ts'

export interface UserDocuments {
  data: WireUser[]
  /** The organization, the roles of the users by name, the permissions of those roles by name. */
  included: (WireOrganization | WireRole | WirePermission)[]
}

export interface UserDocument {
  data: WireUser
  included: UserDocuments['included']
}

/** The same, already written as JSON. */
export interface UserText {
  data: string
  included: string
}

/** What all users share, read or remembered. */
interface Surroundings {
  baseUrl: string
  iconProvider: IconProvider
  organization: RoleCache['organization']
  roles: RoleCache['roles']
}

export interface UserDocumentsOptions {
  clock: Clock
  changes: Pick<IdentityChanges, 'listen'>
  settings: { icon_provider: IconProvider }
  baseUrl(): string
}

/** Makes documents and remembers for a moment what they have in common. */
export class UserDocumentMaker {
  readonly #options: UserDocumentsOptions
  readonly #cache: RoleCache
  #written: { of: OrganizationsTable; baseUrl: string; text: string } | undefined

  constructor(options: UserDocumentsOptions) {
    this.#options = options
    this.#cache = new RoleCache(options)
  }

  many(reader: Reader, organizationId: OrganizationId, users: readonly User[]): Promise<UserDocuments> {
    return documentsOf(reader, organizationId, users, this.#surroundings())
  }

  async one(reader: Reader, user: User): Promise<UserDocument> {
    return first(await this.many(reader, user.organizationId, [user]))
  }

  /** Of somebody who was made this moment and has neither role nor second factor: nothing is looked up. */
  async ofNew(reader: Reader, user: User): Promise<UserText> {
    const baseUrl = this.#options.baseUrl()
    const data = userToWire(user, { roles: [], mfaEnabled: false }, baseUrl, this.#options.settings.icon_provider)
    const organization = await this.#cache.organization(reader, user.organizationId)
    return { data: JSON.stringify(data), included: `[${this.#organizationText(organization, baseUrl)}]` }
  }

  /** Written anew when the cache has read it anew. */
  #organizationText(of: OrganizationsTable, baseUrl: string): string {
    if (this.#written?.of !== of || this.#written.baseUrl !== baseUrl) {
      this.#written = { of, baseUrl, text: JSON.stringify(organizationToWire(of, baseUrl)) }
    }
    return this.#written.text
  }

  #surroundings(): Surroundings {
    const { baseUrl, settings } = this.#options
    const cache = this.#cache
    return {
      baseUrl: baseUrl(),
      iconProvider: settings.icon_provider,
      organization: (reader, id) => cache.organization(reader, id),
      roles: (reader, organizationId, ids) => cache.roles(reader, organizationId, ids),
    }
  }
}

export function userDocuments(
  reader: Reader,
  organizationId: OrganizationId,
  users: readonly User[],
  { baseUrl, settings }: Pick<UserDocumentsOptions, 'baseUrl' | 'settings'>,
): Promise<UserDocuments> {
  const shared = { baseUrl: baseUrl(), iconProvider: settings.icon_provider }
  return documentsOf(reader, organizationId, users, { ...shared, organization: findOrganization, roles: readRoles })
}

/** The document of one user: `{ data, included }`. */
export async function userDocument(
  reader: Reader,
  user: User,
  options: Pick<UserDocumentsOptions, 'baseUrl' | 'settings'>,
): Promise<UserDocument> {
  return first(await userDocuments(reader, user.organizationId, [user], options))
}

/** Of the resource as text: it changes with whatever the user itself shows, not with what it refers to. */
export function userTag(data: string): string {
  return weakETag(data)
}

async function documentsOf(
  reader: Reader,
  organizationId: OrganizationId,
  users: readonly User[],
  { baseUrl, iconProvider, organization, roles }: Surroundings,
): Promise<UserDocuments> {
  const ids = users.map((user) => user.id)
  const roleIds = await roleIdsOfUsers(reader, ids)
  const mfa = await usersWithMfa(reader, ids)
  const held = [...(await roles(reader, organizationId, [...new Set([...roleIds.values()].flat())])).values()]
  held.sort((a, b) => compareTexts(a.role.name, b.role.name) || compareTexts(a.role.id, b.role.id))
  return {
    data: users.map((user) =>
      userToWire(user, { roles: rolesOf(user.id, roleIds, held), mfaEnabled: mfa.has(user.id) }, baseUrl, iconProvider),
    ),
    included: [
      organizationToWire(await organization(reader, organizationId), baseUrl),
      ...(await heldToWire(reader, held)),
      ...catalogueOrder(held.flatMap(({ permissions }) => permissions.map(({ name }) => name))).map(permissionToWire),
    ],
  }
}

function rolesOf(userId: UserId, roleIds: ReadonlyMap<UserId, RoleId[]>, held: readonly HeldRole[]): Role[] {
  const own = roleIds.get(userId) ?? []
  return held.filter(({ role }) => own.includes(role.id)).map(({ role }) => role)
}

async function heldToWire(reader: Reader, held: readonly HeldRole[]): Promise<WireRole[]> {
  const tallies = await readTallies(
    reader,
    held.map(({ role }) => roleTally(role.id)),
  )
  return held.map(({ role, permissions }) => roleToWire(role, permissions, tallies.get(roleTally(role.id)) ?? 0))
}

function first({ data, included }: UserDocuments): UserDocument {
  return { data: data[0] as WireUser, included }
}
