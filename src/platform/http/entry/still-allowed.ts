/**
 * For answers that go on for long, and those that were waited for: whether the request would still be let in. Asks as `guard.ts` does, so
 * a right that was taken away, a credential that was revoked and one that has expired count as soon as they would for a new request.
 */
import type { FastifyRequest } from 'fastify'
import type { Authentication } from '../../auth/principal.ts'
import { isOpen, refusalOf } from './access.ts'
import { HttpCredentialSource } from './credential-source.ts'
import { credentialError, refuseWithoutRight } from './refusals.ts'

export async function isStillAllowed(request: FastifyRequest): Promise<boolean> {
  const operation = request.routeOptions.config.operation
  if (operation === undefined) return false
  const { access } = operation
  if (isOpen(access)) return true
  const authentication = await authenticateAgain(request)
  return authentication.kind === 'ok' && refusalOf(access, authentication.principal, request) === null
}

/** Throws what a new request would be told. */
export async function refuseUnlessStillAllowed(request: FastifyRequest): Promise<void> {
  const { platform } = request.server
  const operation = request.routeOptions.config.operation
  if (operation === undefined || isOpen(operation.access)) return
  const { access, surface, operationId } = operation
  const authentication = await authenticateAgain(request)
  if (authentication.kind !== 'ok') throw credentialError(surface, authentication, platform.origin())
  refuseWithoutRight(
    platform,
    { access, surface, label: { operation: operationId } },
    authentication.principal,
    request,
  )
}

async function authenticateAgain(request: FastifyRequest): Promise<Authentication> {
  const { platform } = request.server
  const { authenticator } = platform
  const source = new HttpCredentialSource(request, platform.origin())
  return authenticator.recall?.(source) ?? (await authenticator.authenticate(source))
}
