import type { FastifyRequest } from 'fastify'
import type { ClientInfo } from '../../audit/audit-change.ts'
import { plainAddress } from '../connection/client-address.ts'

/** Where a request came from, for the audit log. */
export function clientOf(request: FastifyRequest): ClientInfo {
  return {
    address: plainAddress(request.ip),
    userAgent: request.headers['user-agent'] ?? null,
    requestId: request.id,
  }
}
