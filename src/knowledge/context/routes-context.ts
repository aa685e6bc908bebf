import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { projectUrls } from '../project/urls.ts'
import { buildContext } from './build-context.ts'
import { contextDocument, contextQueryOf } from './context-document.ts'
import { memoryName } from './memory-uri.ts'
import {
  ContextDocument,
  ContextFilters,
  type ContextFilterValues,
  ContextPath,
  RecentFilters,
} from './schema-context.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const

export function contextRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const { db, clock, searchIndex } = deps

  operation(server, {
    method: 'GET',
    ...projectUrls('/memory/recent'),
    operationId: 'GetRecentActivity',
    summary: 'List what changed lately',
    description: 'Newest first, each with its observations and with what is related to it.',
    ...READ,
    schema: { params: ProjectPath, querystring: RecentFilters, response: { 200: ContextDocument } },
    handler: (request) => answer(request.params.project_id, null, request.query),
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/memory/*'),
    operationId: 'GetContext',
    summary: 'Get notes by a memory address, with what is related to them',
    description:
      'The address is a permalink with or without memory://, also of an observation or a relation, a pattern of permalinks with *, an id, a title or a path. What names nothing gives no results.',
    ...READ,
    schema: { params: ContextPath, querystring: ContextFilters, response: { 200: ContextDocument } },
    handler: (request) => answer(request.params.project_id, request.params['*'], request.query),
  })

  async function answer(projectId: string, uri: string | null, filters: ContextFilterValues) {
    const now = clock.now()
    const name = uri === null ? null : memoryName(uri)
    const query = contextQueryOf(name, filters, now)
    const page = await buildContext(db, searchIndex, await requireProject(db, projectId), query)
    return contextDocument(name === null ? null : `memory://${name}`, filters, query, page, now)
  }
}
