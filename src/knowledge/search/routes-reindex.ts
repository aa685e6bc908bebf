import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { ProjectInside } from '../project/project-inside.ts'
import { projectUrls } from '../project/urls.ts'
import { ReindexAnswer } from './schema-search.ts'

export function reindexRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const inside = new ProjectInside(deps)

  operation(server, {
    method: 'POST',
    ...projectUrls('/search/reindex'),
    operationId: 'ReindexSearch',
    summary: 'Make the search index of a project anew',
    description:
      'Words and vectors of every note, in the background. Until a note has its new ones, it is found by its old ones.',
    surface: 'knowledge',
    // As for an index run of the project, which it is: no note changes, and all of them are read.
    access: 'projects_write',
    rateLimit: null,
    schema: { params: ProjectPath, response: { 200: ReindexAnswer } },
    async handler(request) {
      const project = await requireProject(deps.db, request.params.project_id)
      const input = { pathId: project.externalId, inBackground: true }
      const { notes } = await inside.index(callerOf(request), input, clientOf(request))
      await deps.semantic?.sync.reindex(project)
      const what = `${notes} ${notes === 1 ? 'note is' : 'notes are'}`
      return { status: 'ok', message: `${what} indexed anew in the background; searches go on meanwhile` } as const
    },
  })
}
