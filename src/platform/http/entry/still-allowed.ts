/**
 * For answers that go on for long, those that were waited for, and requests that came slowly: whether the request would still be let in.
 * Asks as `guard.ts` does, so a right that was taken away, a credential that was revoked and one that has expired count as soon as they
 * would for a new request.
 */
import type { FastifyRequest, preValidationHookHandler } from 'fastify'
import { OLDEST_RIGHTS_MS } from '../../auth/authenticator.ts'
import type { Authentication } from '../../auth/principal.ts'
import { AppError } from '../../errors/app-error.ts'
import { HttpResponse } from '../connection/response.ts'
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

/** A long answer for as long as it may go on; then it breaks off, so that nobody takes what they have for the whole. */
export async function* whileAllowed<Piece>(
  request: FastifyRequest,
  pieces: AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    if (!(await isStillAllowed(request))) throw new AppError('permission_denied', 'The caller may read no further')
    yield piece
  }
}

/**
 * After the body: who sends it slowly does not act by rights that are gone meanwhile. A request whose body came at once pays for a look
 * at the clock.
 */
export const judgeSlowAgain: preValidationHookHandler = (request, reply, done) => {
  const isSlow = reply.raw instanceof HttpResponse && reply.raw.elapsedMs > OLDEST_RIGHTS_MS
  if (!isSlow) return done()
  refuseUnlessStillAllowed(request).then(() => done(), done)
}

/** Throws what a new request would be told. From here on the caller may do what it may do now. */
export async function refuseUnlessStillAllowed(request: FastifyRequest): Promise<void> {
  const { platform } = request.server
  const operation = request.routeOptions.config.operation
  if (operation === undefined || isOpen(operation.access)) return
  const { access, surface, operationId } = operation
  const authentication = await authenticateAgain(request)
  if (authentication.kind !== 'ok') throw credentialError(platform, surface, authentication)
  refuseWithoutRight(
    platform,
    { access, surface, label: { operation: operationId } },
    authentication.principal,
    request,
  )
  request.principal = authentication.principal
}

async function authenticateAgain(request: FastifyRequest): Promise<Authentication> {
  const { platform } = request.server
  const { authenticator } = platform
  const source = new HttpCredentialSource(request, platform.origin())
  return authenticator.recall?.(source) ?? (await authenticator.authenticate(source))
}
