import type { FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'

/** 401 unless the request came with a good token of a user. */
export function requireUser(request: FastifyRequest, domain: string, message: string): void {
  if (request.principal !== null) return
  const realm = `Bearer realm="${domain}"`
  const wasSent = request.headers.authorization !== undefined
  throw new AppError('unauthenticated', message, {
    headers: { 'www-authenticate': wasSent ? `${realm}, error="invalid_token"` : realm },
  })
}

export const USER_REQUIRED = 'This API requires an authenticated user'
export const TOKEN_INVALID = 'The access token is invalid'
