import type { FastifyInstance } from 'fastify'
import { batchRoutes } from './batch/routes-batch.ts'
import { contextRoutes } from './context/routes-context.ts'
import type { KnowledgeDeps } from './deps.ts'
import { directoryRoutes } from './directory/routes-directory.ts'
import { graphRoutes } from './graph/routes-graph.ts'
import { historyJobs } from './history/history-jobs.ts'
import { historyRoutes } from './history/routes-history.ts'
import { backlinkRoutes } from './link/routes-backlinks.ts'
import { resolveRoutes } from './link/routes-resolve.ts'
import { moveRoutes } from './move/routes-move.ts'
import { noteRoutes } from './note/routes-notes.ts'
import { projectJobs } from './project/project-jobs.ts'
import { projectRoutes } from './project/routes-projects.ts'
import { promptRoutes } from './prompt/routes-prompt.ts'
import { searchJobs } from './search/index/outdated-rows.ts'
import { reindexRoutes } from './search/routes-reindex.ts'
import { searchRoutes } from './search/routes-search.ts'
import { SearchService } from './search/search-service.ts'

/** The table of contents of the knowledge surface. */
export function registerKnowledge(server: FastifyInstance, deps: KnowledgeDeps): void {
  const search = new SearchService(deps)
  historyJobs(deps)
  projectJobs(deps)
  searchJobs(deps)
  backlinkRoutes(server, deps)
  batchRoutes(server, deps)
  contextRoutes(server, deps)
  directoryRoutes(server, deps)
  graphRoutes(server, deps)
  historyRoutes(server, deps)
  moveRoutes(server, deps)
  noteRoutes(server, deps)
  projectRoutes(server, deps)
  promptRoutes(server, deps, search)
  reindexRoutes(server, deps)
  resolveRoutes(server, deps)
  searchRoutes(server, deps, search)
}
