import type { FastifyRequest } from 'fastify'
import type { PermissionName } from '../../auth/permissions.ts'
import { allows, type Principal } from '../../auth/principal.ts'

/**
 * Who may call an operation:
 * - `public`: anybody, credentials are not even looked at;
 * - `optional`: anybody, and the principal is known when good credentials were sent (bad ones are ignored);
 * - `bearer`: the same, but the token of a user in the Authorization header is the only credential that counts;
 * - `signed_in`: whoever has good credentials;
 * - a permission: whoever holds it;
 * - a rule, where a permission alone does not say it.
 */
export type Access = 'public' | 'optional' | 'bearer' | 'signed_in' | PermissionName | AccessRule

export interface AccessRule {
  /** For the documentation: `user_access_read, or the user itself`. */
  readonly description: string
  /** For the refused caller. */
  readonly refusal: string
  allows(principal: Principal, request: FastifyRequest): boolean
}

export function anyOf(...permissions: PermissionName[]): AccessRule {
  return {
    description: permissions.join(' or '),
    refusal: `Missing permission: ${permissions[0]}`,
    allows: (principal) => permissions.some((permission) => allows(principal, permission)),
  }
}

/** The user named by the path parameter itself, or whoever holds the permission. */
export function selfOr(permission: PermissionName, parameter: string): AccessRule {
  return {
    description: `${permission}, or the user itself`,
    refusal: `Missing permission: ${permission}`,
    allows: (principal, request) => {
      const id = (request.params as Record<string, string>)[parameter]
      return allows(principal, permission) || (principal.userId !== null && id?.toLowerCase() === principal.userId)
    },
  }
}

/** Whether anybody may call. */
export function isOpen(access: Access): access is 'public' | 'optional' | 'bearer' {
  return access === 'public' || access === 'optional' || access === 'bearer'
}

export function describeAccess(access: Access): string {
  if (access === 'public') return 'public'
  if (access === 'optional') return 'public; credentials are used when sent'
  if (access === 'bearer') return 'public; the token of a user is used when sent'
  if (access === 'signed_in') return 'any valid credentials'
  return typeof access === 'string' ? access : access.description
}

const ENROL_FIRST = 'A second factor is required: enrol one with POST /api/v2/current_user/totp'

/** The refusal, or null when the principal may go on. */
export function refusalOf(access: Access, principal: Principal, request: FastifyRequest): string | null {
  const refusal = missingOf(access, principal, request)
  return refusal !== null && principal.mustEnrol ? ENROL_FIRST : refusal
}

function missingOf(access: Access, principal: Principal, request: FastifyRequest): string | null {
  if (typeof access === 'object') return access.allows(principal, request) ? null : access.refusal
  if (isOpen(access) || access === 'signed_in') return null
  return allows(principal, access) ? null : `Missing permission: ${access}`
}
