import type { FastifyInstance } from 'fastify'
import { AppError } from '../../../platform/errors/app-error.ts'
import { operation } from '../../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../../deps.ts'
import { resolveIdentifier } from '../../link/resolve-identifier.ts'
import { ProjectPath } from '../../note/schema-notes.ts'
import { requireProject } from '../../project/look-up.ts'
import { projectUrls } from '../../project/urls.ts'
import { SearchBody, SearchPage } from '../schema-search.ts'
import { readSearch } from '../search-request.ts'
import type { SearchService } from '../search-service.ts'
import { inspectChunks } from './inspect-chunks.ts'
import { inspectQuery } from './inspect-query.ts'
import { ChunksBody, ChunksDocument, QueryTrace } from './schema-inspect.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const

export function inspectRoutes(server: FastifyInstance, deps: KnowledgeDeps, service: SearchService): void {
  const { db, clock, searchIndex, semantic } = deps

  operation(server, {
    method: 'POST',
    ...projectUrls('/inspect/query'),
    operationId: 'InspectQuery',
    summary: 'Explain a search',
    description: 'As a search, with how the question was understood, what each candidate got and what was rejected.',
    ...READ,
    schema: { params: ProjectPath, querystring: SearchPage, body: SearchBody, response: { 200: QueryTrace } },
    async handler(request) {
      const { page = 1, page_size: size = 10 } = request.query
      const project = await requireProject(db, request.params.project_id)
      const asked = readSearch(request.body, clock.now())
      return inspectQuery(db, service, project, asked, { limit: size, offset: (page - 1) * size })
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/inspect/chunks'),
    operationId: 'InspectChunks',
    summary: 'List what of a note is embedded',
    description: '400 while semantic search is switched off; 404 and 409 as resolve.',
    ...READ,
    schema: { params: ProjectPath, body: ChunksBody, response: { 200: ChunksDocument } },
    async handler(request) {
      const project = await requireProject(db, request.params.project_id)
      if (semantic === null) {
        throw new AppError('failed_precondition', 'Semantic search is disabled: no note has vectors')
      }
      const asked = { identifier: request.body.identifier, sourcePath: null, isStrict: false }
      const { note } = await resolveIdentifier(db, searchIndex, project, asked)
      return inspectChunks(db, semantic, project, note)
    },
  })
}
