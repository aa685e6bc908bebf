import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { UserStatus } from '../../platform/auth/tables.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { labelProblem } from '../label.ts'

export interface User {
  id: UserId
  organizationId: OrganizationId
  email: string
  handle: string
  name: string | null
  title: string | null
  status: UserStatus
  verified: boolean
  serviceAccount: boolean
  anonymizedAt: Micros | null
  lastLoginAt: Micros | null
  /** Empty: no restriction. */
  allowedLoginMethods: string[]
  createdAt: Micros
  modifiedAt: Micros
}

/** What users are counted and listed by. */
export type UserGroup = Pick<User, 'organizationId' | 'status' | 'serviceAccount'>

export interface Role {
  id: RoleId
  organizationId: OrganizationId
  name: string
  managed: 'admin' | 'standard' | 'read_only' | null
  receivesPermissionsFrom: string[]
  createdAt: Micros
  modifiedAt: Micros
}

/** What is wrong with a name or title, which may be empty; undefined when nothing is. */
export function profileTextProblem(text: string): string | undefined {
  return text.trim() === '' ? undefined : labelProblem(text)
}

/** A name or title: trimmed, and nothing instead of an empty one. */
export function parseProfileText(member: string, text: string | null | undefined): string | null {
  const problem = profileTextProblem(text ?? '')
  if (problem !== undefined) throw new AppError('invalid_argument', `${member} ${problem}`)
  return text?.trim() || null
}

/** What a user becomes when it is no longer Disabled. */
export function statusWhenEnabled(user: Pick<User, 'verified'>): UserStatus {
  return user.verified ? 'Active' : 'Pending'
}
