/** What callers are told who may not call, at the door and where they have waited behind it. */
import type { FastifyRequest } from 'fastify'
import type { Authentication, Principal } from '../../auth/principal.ts'
import { AppError } from '../../errors/app-error.ts'
import type { HttpPlatform } from '../platform.ts'
import type { Surface } from '../surface.ts'
import { type Access, refusalOf } from './access.ts'
import { clientOf } from './client-of.ts'

export function refuseWithoutRight(
  platform: HttpPlatform,
  { access, surface, label }: { access: Access; surface: Surface; label: { operation: string } },
  principal: Principal,
  request: FastifyRequest,
): void {
  const reason = refusalOf(access, principal, request)
  if (reason === null) return
  platform.onDenied?.({ principal, operationId: label.operation, reason, client: clientOf(request) })
  throw new AppError('permission_denied', surface === 'instance' ? 'This action is not allowed' : reason)
}

/** Absent credentials are 401 everywhere. Bad ones are 403, except where the contract of the surface says 401. */
export function credentialError(
  platform: HttpPlatform,
  surface: Surface,
  authentication: Exclude<Authentication, { kind: 'ok' }>,
): AppError {
  const isBad = authentication.kind === 'bad'
  if (isBad && authentication.reason === 'csrf') {
    return new AppError('permission_denied', 'The X-CSRF-Token header is missing or wrong')
  }
  if (surface === 'instance') {
    const realm = `Bearer realm="${platform.realm?.() ?? new URL(platform.origin()).host}"`
    const headers = { 'www-authenticate': isBad ? `${realm}, error="invalid_token"` : realm }
    return new AppError('unauthenticated', 'The access token is invalid', { headers })
  }
  if (surface === 'callbacks') {
    return new AppError('unauthenticated', isBad ? 'The credentials are not valid' : 'Credentials are needed')
  }
  return isBad ? new AppError('permission_denied', 'Forbidden') : new AppError('unauthenticated', 'Unauthorized')
}
