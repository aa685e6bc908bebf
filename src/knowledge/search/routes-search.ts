import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { projectUrls } from '../project/urls.ts'
import { inspectRoutes } from './inspect/routes-inspect.ts'
import { SearchBody, SearchDocument, SearchPage } from './schema-search.ts'
import { readSearch } from './search-request.ts'
import type { SearchAnswer, SearchService } from './search-service.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const
const BODY_LIMIT = 1024 * 1024

export function searchRoutes(server: FastifyInstance, deps: KnowledgeDeps, service: SearchService): void {
  inspectRoutes(server, deps, service)

  operation(server, {
    method: 'POST',
    alsoBy: ['QUERY'],
    ...projectUrls('/search/'),
    operationId: 'SearchNotes',
    summary: 'Search notes, observations and relations',
    description:
      'One of `text`, `title`, `permalink` and `permalink_match`, or filters alone. The method QUERY does the same. 422 for several of them or a value outside its list; 400 for a bad metadata filter, and for a search by meaning where that is switched off or has no text. Where the server has hits sorted again by a service: 503 while that fails, 502 when its answer is none.',
    ...READ,
    bodyLimit: BODY_LIMIT,
    schema: { params: ProjectPath, querystring: SearchPage, body: SearchBody, response: { 200: SearchDocument } },
    async handler(request, reply) {
      const { page = 1, page_size: size = 10 } = request.query
      reply.header('accept-query', 'application/json')
      const project = await requireProject(deps.db, request.params.project_id)
      const asked = readSearch(request.body, deps.clock.now())
      return searchDocument(
        await service.search(project, asked, { limit: size, offset: (page - 1) * size }),
        page,
        size,
      )
    },
  })
}

function searchDocument(
  { results, total, isExact, hasMore, isDegraded }: SearchAnswer,
  page: number,
  pageSize: number,
): Static<typeof SearchDocument> {
  return {
    results,
    current_page: page,
    page_size: pageSize,
    total,
    total_is_exact: isExact,
    has_more: hasMore,
    ...(isDegraded && { degraded: true }),
  }
}
