import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors/app-error.ts'

/**
 * For bodies of a type that nobody reads. Of an empty one the type says nothing: `curl -d ''` names one that nobody chose, and some clients
 * send theirs with every request.
 */
export function takeEmptyBody(
  { headers }: FastifyRequest,
  _payload: unknown,
  done: (error: Error | null, body?: undefined) => void,
): void {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  done(isEmpty ? null : new AppError('unsupported_media_type', 'Unsupported content type'))
}
