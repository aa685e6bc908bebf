import type { FastifyRequest } from 'fastify'
import { isOpen, refusalOf } from './access.ts'
import { HttpCredentialSource } from './credential-source.ts'

/**
 * For an answer that goes on for long: whether the request would still be let in. Asks as `guard.ts` does, so a right that was taken
 * away, a credential that was revoked and one that has expired count as soon as they would for a new request.
 */
export async function isStillAllowed(request: FastifyRequest): Promise<boolean> {
  const { platform } = request.server
  const operation = request.routeOptions.config.operation
  if (operation === undefined) return false
  const { access } = operation
  if (isOpen(access)) return true
  const source = new HttpCredentialSource(request, platform.origin())
  const authentication = platform.authenticator.recall?.(source) ?? (await platform.authenticator.authenticate(source))
  return authentication.kind === 'ok' && refusalOf(access, authentication.principal, request) === null
}
