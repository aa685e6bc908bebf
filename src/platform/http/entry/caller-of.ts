import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../errors/app-error.ts'

/** Who calls an operation that is not public. */
export function callerOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new AppError('unauthenticated', 'Unauthorized')
  return request.principal
}
