import type { FastifyInstance } from 'fastify'
import { allows } from '../../platform/auth/principal.ts'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { waitingOf } from '../../platform/http/entry/waiting-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { VERSION } from '../../version.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { DISABLED } from '../semantic/sync/embedding-status.ts'
import { ProjectInside } from './project-inside.ts'
import {
  ProjectIndexAnswer,
  ProjectIndexQuery,
  ProjectInfo,
  ProjectSyncStatus,
  toActivity,
  toAvailable,
  toEmbeddingInfo,
  toStatistics,
  withoutNotes,
} from './schema-project-info.ts'
import { ProjectPath } from './schema-projects.ts'

// Whatever `knowledge.mirror` says: nothing writes or reads one yet.
const HAS_MIRROR = false

const READ = { surface: 'knowledge', access: 'projects_read', rateLimit: null } as const
const WRITE = { surface: 'knowledge', access: 'projects_write', rateLimit: null } as const

export function projectInfoRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const inside = new ProjectInside(deps)

  operation(server, {
    method: 'GET',
    url: '/v2/projects/:project_id/info',
    operationId: 'projects_info',
    summary: 'Get the figures of a project',
    description:
      'What it holds, what is most connected, and what happened in it lately. Reads the whole project. Lists of notes, types and categories are empty for who may not read notes.',
    ...READ,
    schema: { params: ProjectPath, response: { 200: ProjectInfo } },
    async handler(request, reply) {
      const { project, all, facts } = await inside.facts(request.params.project_id, waitingOf(request, reply))
      const embedding = toEmbeddingInfo((await deps.semantic?.sync.status(project)) ?? DISABLED)
      const info = {
        project_name: project.name,
        external_id: project.externalId,
        project_path: project.path,
        default_project: all.find(({ isDefault }) => isDefault)?.name ?? null,
        available_projects: toAvailable(all),
        statistics: toStatistics(facts),
        activity: toActivity(facts),
        system: {
          version: VERSION,
          database: deps.db.engine,
          database_path: '',
          database_size: '',
          mirror_enabled: HAS_MIRROR,
          timestamp: toRfc3339(deps.clock.now()),
        },
        embedding_status: embedding,
      }
      return allows(callerOf(request), 'notes_read') ? info : withoutNotes(info)
    },
  })

  operation(server, {
    method: 'POST',
    url: '/v2/projects/:project_id/index',
    operationId: 'projects_index',
    summary: 'Read all notes of a project anew',
    description:
      'Observations, relations, names and the words of the search are made again out of the texts. Nothing of the notes changes.',
    ...WRITE,
    schema: { params: ProjectPath, querystring: ProjectIndexQuery, response: { 200: ProjectIndexAnswer } },
    async handler(request) {
      const inBackground = request.query.run_in_background !== false
      const input = { pathId: request.params.project_id, inBackground }
      const { notes } = await inside.index(callerOf(request), input, clientOf(request))
      return inBackground
        ? { status: 'index_started', message: 'All notes are read anew in the background', notes }
        : { status: 'index_completed', message: 'All notes were read anew', notes }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/v2/projects/:project_id/status',
    operationId: 'projects_status',
    summary: 'Get how far an index run is',
    description:
      'The counts of differences from the mirror on disk are zero, and `mirror_enabled` is false, in this version, which has none.',
    ...READ,
    schema: { params: ProjectPath, response: { 200: ProjectSyncStatus } },
    async handler(request) {
      const { project, index } = await inside.status(request.params.project_id)
      const differences = { new: 0, modified: 0, moved: 0, deleted: 0, total: 0 }
      const files = { total_files: project.noteCount, observed_files: [] }
      return { ...differences, note_count: project.noteCount, ...files, mirror_enabled: HAS_MIRROR, index }
    },
  })
}
