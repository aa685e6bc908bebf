/** Roles made, changed and deleted. What they hold is read in role-reader.ts; who has them is in role-membership.ts. */

import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import { MANAGED_ROLES, type RoleId } from '../../platform/auth/managed-roles.ts'
import { type CataloguePermission, isPermissionName, type PermissionName } from '../../platform/auth/permissions.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { requireMatch } from '../../platform/http/answer/etag.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { refuseEscalation, refuseToTakeAdmin } from '../guards.ts'
import { requireRole } from '../look-up.ts'
import type { Role } from '../user/user.ts'
import {
  isBasePermission,
  parseRoleWish,
  type RoleWish,
  refuseManaged,
  roleTag,
  withBase,
  withoutBase,
} from './role.ts'
import { removeRole } from './role-removal.ts'
import {
  addRolePermissions,
  findRolesByName,
  insertRole,
  permissionsOfRole,
  removeRolePermissions,
  updateRole,
} from './store-roles.ts'

export interface RoleServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  /** With more members it is taken from them afterwards, so many at a time. */
  removalStep?: number
}

export interface NewRole extends RoleWish {
  name: string
}

export interface RoleUpdate extends RoleWish {
  roleId: RoleId
  /** The header as it was sent. */
  ifMatch?: string
}

export interface RoleClone {
  roleId: RoleId
  name: string
  receivesPermissionsFrom?: readonly string[]
}

type AlsoInMaking = (tx: Transaction, role: Role) => Promise<void>

interface PermissionChange {
  granted: PermissionName[]
  revoked: PermissionName[]
}

export class RoleService {
  readonly #options: RoleServiceOptions

  constructor(options: RoleServiceOptions) {
    this.#options = options
  }

  /** `also` is part of the same transaction. */
  async create(principal: Principal, input: NewRole, client?: ClientInfo, also?: AlsoInMaking): Promise<Role> {
    const { name = '', receivesPermissionsFrom = [], permissions = [] } = parseRoleWish(input)
    refuseEscalation(principal, withoutBase(permissions))
    const role = this.#newRole(principal, name, receivesPermissionsFrom)
    await this.#options.db.write(async (tx) => {
      await insertRole(tx, role)
      await addRolePermissions(tx, role.id, [...withBase(permissions)])
      const changes = { name: { new: role.name }, permissions: { new: withoutBase(new Set(permissions)) } }
      await auditChange(tx, principal, { action: 'role.created', target: target(role), changes }, client)
      await also?.(tx, role)
    })
    return role
  }

  /** What the role holds, but not who has it. Cloning counts as giving each of its permissions. */
  async clone(principal: Principal, input: RoleClone, client?: ClientInfo, also?: AlsoInMaking): Promise<Role> {
    return this.#options.db.write(async (tx) => {
      const original = await requireRole(tx, principal, input.roleId)
      const { name = '', receivesPermissionsFrom = sourcesOf(original) } = parseRoleWish(input, [])
      const role = this.#newRole(principal, name, receivesPermissionsFrom)
      if ((await findRolesByName(tx, principal.organizationId, role.name)).length > 0) {
        throw new AppError('conflict', `A role named "${role.name}" already exists`)
      }
      const permissions = await permissionsOfRole(tx, original.id)
      refuseEscalation(principal, withoutBase(permissions))
      await insertRole(tx, role)
      await addRolePermissions(tx, role.id, [...withBase(permissions)])
      const changes = { name: { new: role.name }, original: { new: original.id } }
      await auditChange(tx, principal, { action: 'role.cloned', target: target(role), changes }, client)
      await also?.(tx, role)
      return role
    })
  }

  /** All of it or nothing. Permissions, where given, replace those of the role. */
  async update(principal: Principal, input: RoleUpdate, client?: ClientInfo): Promise<Role> {
    return this.#options.db.write(async (tx) => {
      const role = await requireRole(tx, principal, input.roleId)
      requireMatch(input.ifMatch, roleTag(role))
      refuseManaged(role)
      const wish = parseRoleWish(input)
      const changed = {
        ...role,
        name: wish.name ?? role.name,
        receivesPermissionsFrom: wish.receivesPermissionsFrom ?? role.receivesPermissionsFrom,
      }
      const changes = changesOf(role, changed)
      const permissions =
        wish.permissions === undefined
          ? { granted: [], revoked: [] }
          : difference(await permissionsOfRole(tx, role.id), withBase(wish.permissions))
      refuseEscalation(principal, withoutBase(permissions.granted))
      if (changes !== undefined) {
        await auditChange(tx, principal, { action: 'role.updated', target: target(role), changes }, client)
      }
      return this.#store(tx, principal, changed, { ...permissions, isRenamed: changes !== undefined }, client)
    })
  }

  async delete(
    principal: Principal,
    input: Pick<RoleUpdate, 'roleId' | 'ifMatch'>,
    client?: ClientInfo,
  ): Promise<void> {
    await this.#options.db.write(
      async (tx) => {
        const role = await requireRole(tx, principal, input.roleId)
        requireMatch(input.ifMatch, roleTag(role))
        refuseManaged(role)
        refuseToTakeAdmin(principal, await permissionsOfRole(tx, role.id))
        await removeRole(tx, role, this.#options.clock.now(), this.#options.removalStep)
        const changes = { name: { old: role.name } }
        await auditChange(tx, principal, { action: 'role.deleted', target: target(role), changes }, client)
        this.#options.changes.announce(tx)
      },
      { alone: true },
    )
  }

  async addPermission(
    principal: Principal,
    input: { roleId: RoleId; permission: CataloguePermission },
    client?: ClientInfo,
  ): Promise<void> {
    await this.#change(principal, input.roleId, client, (held) => {
      const change = difference(held, new Set([...held, input.permission.name]))
      refuseEscalation(principal, change.granted)
      return change
    })
  }

  async removePermission(
    principal: Principal,
    input: { roleId: RoleId; permission: CataloguePermission },
    client?: ClientInfo,
  ): Promise<void> {
    const { name } = input.permission
    await this.#change(principal, input.roleId, client, (held) => {
      if (isBasePermission(name)) throw new AppError('invalid_argument', `Permission ${name} belongs to every role`)
      return difference(held, new Set(held.filter((other) => other !== name)))
    })
  }

  #newRole(principal: Principal, name: string, receivesPermissionsFrom: string[]): Role {
    const now = this.#options.clock.now()
    return {
      id: newId(),
      organizationId: principal.organizationId,
      name,
      managed: null,
      receivesPermissionsFrom,
      createdAt: now,
      modifiedAt: now,
    }
  }

  async #change(
    principal: Principal,
    roleId: RoleId,
    client: ClientInfo | undefined,
    decide: (held: PermissionName[]) => PermissionChange,
  ): Promise<void> {
    await this.#options.db.write(async (tx) => {
      const role = await requireRole(tx, principal, roleId)
      refuseManaged(role)
      await this.#store(tx, principal, role, decide(await permissionsOfRole(tx, role.id)), client)
    })
  }

  /** The role as it is stored now; untouched when there is nothing to change. */
  async #store(
    tx: Transaction,
    principal: Principal,
    role: Role,
    { granted, revoked, isRenamed }: PermissionChange & { isRenamed?: boolean },
    client?: ClientInfo,
  ): Promise<Role> {
    if (granted.length + revoked.length === 0 && !isRenamed) return role
    refuseToTakeAdmin(principal, revoked)
    const stored = { ...role, modifiedAt: this.#options.clock.now() }
    await updateRole(tx, stored)
    await addRolePermissions(tx, role.id, granted)
    await removeRolePermissions(tx, role.id, revoked)
    if (granted.length > 0) {
      const changes = { permissions: { new: granted } }
      await auditChange(tx, principal, { action: 'role.permission_granted', target: target(role), changes }, client)
    }
    if (revoked.length > 0) {
      const changes = { permissions: { old: revoked } }
      await auditChange(tx, principal, { action: 'role.permission_revoked', target: target(role), changes }, client)
    }
    this.#options.changes.announce(tx)
    return stored
  }
}

function target(role: Role) {
  return { type: 'roles', id: role.id }
}

/** A clone goes on receiving what its original would have got. */
function sourcesOf({ managed, receivesPermissionsFrom }: Role): string[] {
  const source = MANAGED_ROLES.find(({ key }) => key === managed)
  return source === undefined ? receivesPermissionsFrom : [source.name]
}

function changesOf(before: Role, after: Role) {
  const changes: Record<string, { old: unknown; new: unknown }> = {}
  if (before.name !== after.name) changes.name = { old: before.name, new: after.name }
  const [old, now] = [before.receivesPermissionsFrom, after.receivesPermissionsFrom]
  if (JSON.stringify(old) !== JSON.stringify(now)) changes.receives_permissions_from = { old, new: now }
  return Object.keys(changes).length === 0 ? undefined : changes
}

/** A permission that this version does not know (a newer node brought it) is left where it is. */
function difference(held: PermissionName[], wanted: ReadonlySet<PermissionName>): PermissionChange {
  return {
    granted: [...wanted].filter((name) => !held.includes(name)).sort(),
    revoked: held.filter((name) => isPermissionName(name) && !wanted.has(name)),
  }
}
