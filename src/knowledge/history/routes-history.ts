import type { FastifyInstance } from 'fastify'
import type { KnowledgeDeps } from '../deps.ts'
import { changesRoutes } from './routes-changes.ts'
import { revisionRoutes } from './routes-revisions.ts'
import { trashRoutes } from './routes-trash.ts'

/** What became of notes: their versions, those that were deleted, and the feed of changes. */
export function historyRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  revisionRoutes(server, deps)
  trashRoutes(server, deps)
  changesRoutes(server, deps)
}
