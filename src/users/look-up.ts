import { MANAGED_ROLES, type RoleId } from '../platform/auth/managed-roles.ts'
import type { Principal, UserId } from '../platform/auth/principal.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { shownId } from '../platform/ids/shown-id.ts'
import { parseId } from '../platform/ids/uuid.ts'
import type { Reader } from '../platform/storage/database.ts'
import { parseEmail } from '../platform/text/email.ts'
import { findManagedRole, findRole, findRoles, findRolesByName } from './role/store-roles.ts'
import { findServiceAccountsByEmail, findUser, findUserByEmail } from './user/store-users.ts'
import type { Role, User } from './user/user.ts'

export async function requireUser(reader: Reader, principal: Principal, id: UserId): Promise<User> {
  const user = await findUser(reader, principal.organizationId, id)
  if (user === undefined) throw new AppError('not_found', `User ${id} not found`)
  return user
}

/** Somebody who can sign in: no service account, not anonymized. */
export async function requirePerson(reader: Reader, principal: Principal, id: UserId): Promise<User> {
  const user = await requireUser(reader, principal, id)
  refuseAnonymized(user)
  if (user.serviceAccount) throw new AppError('invalid_argument', `User ${id} is a service account and has no password`)
  return user
}

export async function requireServiceAccount(reader: Reader, principal: Principal, id: UserId): Promise<User> {
  const user = await findUser(reader, principal.organizationId, id)
  if (user?.serviceAccount !== true) throw new AppError('not_found', `Service account ${id} not found`)
  return user
}

export function refuseAnonymized(user: User): void {
  if (user.anonymizedAt !== null) throw new AppError('invalid_argument', `User ${user.id} has been anonymized`)
}

export async function requireRole(reader: Reader, principal: Principal, id: RoleId): Promise<Role> {
  const role = await findRole(reader, principal.organizationId, id)
  if (role === undefined) throw new AppError('not_found', `Role ${id} not found`)
  return role
}

const MOST_PROBLEMS = 100

/** Roles that a body names, each once; every unknown one is reported. */
export async function requireRoles(reader: Reader, principal: Principal, texts: readonly string[]): Promise<Role[]> {
  const ids = [...new Set(texts.map((text) => parseId<'Role'>(text) ?? text))]
  // What is no id is not asked for: PostgreSQL takes no text with a NUL.
  const parsed = ids.flatMap((id) => parseId<'Role'>(id) ?? [])
  const roles = await findRoles(reader, principal.organizationId, parsed)
  const known = new Set<string>(roles.map(({ id }) => id))
  const problems = ids.filter((id) => !known.has(id)).map((id) => `Role ${shownId(id)} not found`)
  if (problems.length === 0) return roles
  throw new AppError('invalid_argument', problems[0] as string, { problems: problems.slice(0, MOST_PROBLEMS) })
}

/** As an operator would name a user: by id or by email address, which service accounts may share: then a person has it. */
export async function resolveUser(reader: Reader, principal: Principal, text: string): Promise<User> {
  const id = parseId<'User'>(text.trim())
  if (id !== undefined) return requireUser(reader, principal, id)
  const email = parseEmail(text)
  const person = email === undefined ? undefined : await findUserByEmail(reader, principal.organizationId, email)
  if (person !== undefined) return person
  const [account, other] =
    email === undefined ? [] : await findServiceAccountsByEmail(reader, principal.organizationId, email)
  if (account === undefined) throw new AppError('not_found', `There is no user with the id or email address "${text}"`)
  if (other === undefined) return account
  throw new AppError(
    'invalid_argument',
    `Several service accounts have the email address "${text}": give the id of the one you mean`,
  )
}

/** By id, by name, or by the short name of a managed role (`admin`, `standard`, `read_only`). */
export async function resolveRole(reader: Reader, principal: Principal, text: string): Promise<Role> {
  const { organizationId } = principal
  const id = parseId<'Role'>(text.trim())
  if (id !== undefined) return requireRole(reader, principal, id)
  const key = MANAGED_ROLES.find((role) => role.key === text.trim().toLowerCase().replace('-', '_'))?.key
  const managed = key && (await findManagedRole(reader, organizationId, key))
  if (managed) return managed
  const [role, other] = await findRolesByName(reader, organizationId, text.trim())
  if (role === undefined) throw new AppError('not_found', `There is no role with the id or name "${text}"`)
  if (other !== undefined) {
    throw new AppError('invalid_argument', `Several roles are named "${text}": give the id of the one you mean`)
  }
  return role
}
