import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { DeletedProjects } from './deleted-projects.ts'
import { resolveProject } from './look-up.ts'
import { ProjectService } from './project-service.ts'
import { projectInfoRoutes } from './routes-project-info.ts'
import {
  ProjectCreateBody,
  ProjectDeleteQuery,
  ProjectDeletion,
  ProjectItem,
  ProjectList,
  ProjectPath,
  ProjectResolveBody,
  ProjectRestoreBody,
  ProjectStatus,
  ProjectUpdateBody,
  ResolvedProject,
  toItem,
  toResolved,
  toStatus,
} from './schema-projects.ts'

const READ = { surface: 'knowledge', access: 'projects_read', rateLimit: null } as const
const WRITE = { surface: 'knowledge', access: 'projects_write', rateLimit: null } as const

export function projectRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const projects = new ProjectService(deps)
  const deleted = new DeletedProjects(deps)

  operation(server, {
    method: 'GET',
    url: '/v2/projects',
    operationId: 'projects_list',
    summary: 'List projects, oldest first',
    ...READ,
    etag: true,
    schema: { response: { 200: ProjectList } },
    async handler() {
      const list = await projects.list()
      return { projects: list.map(toItem), default_project: list.find(({ isDefault }) => isDefault)?.name ?? null }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/v2/projects',
    operationId: 'projects_create',
    summary: 'Create a project',
    description: 'Asking for one that exists already, with the same name and path, is answered with 200.',
    ...WRITE,
    idempotent: {},
    sends: ['Location'],
    schema: { body: ProjectCreateBody, response: { 200: ProjectStatus, 201: ProjectStatus } },
    async handler(request, reply) {
      const { name, path, set_default: setDefault } = request.body
      const input = { name, path: path ?? undefined, setDefault }
      const change = await projects.create(callerOf(request), input, clientOf(request))
      const shown = change.after?.name
      if (!change.changed) return toStatus(change, `Project '${shown}' already exists`)
      reply.code(201).header('location', `/v2/projects/${change.after?.externalId}`)
      return toStatus(change, `Project '${shown}' was created`)
    },
  })

  operation(server, {
    method: 'POST',
    url: '/v2/projects/resolve',
    operationId: 'projects_resolve',
    summary: 'Find a project by its id, permalink or name',
    ...READ,
    schema: { body: ProjectResolveBody, response: { 200: ResolvedProject } },
    async handler(request) {
      const { project, method } = await resolveProject(deps.db, request.body.identifier)
      return toResolved(project, method)
    },
  })

  operation(server, {
    method: 'GET',
    url: '/v2/projects/:project_id',
    operationId: 'projects_get',
    summary: 'Get a project',
    ...READ,
    etag: true,
    schema: { params: ProjectPath, response: { 200: ProjectItem } },
    handler: async (request) => toItem(await projects.get(request.params.project_id)),
  })

  operation(server, {
    method: 'PATCH',
    url: '/v2/projects/:project_id',
    operationId: 'projects_update',
    summary: 'Rename a project, or change its recorded path or whether it is active',
    description: 'Notes keep their permalinks when their project is renamed.',
    ...WRITE,
    schema: { params: ProjectPath, body: ProjectUpdateBody, response: { 200: ProjectStatus } },
    async handler(request) {
      const { name, path, is_active: isActive } = request.body
      const input = { name: name ?? undefined, path: path ?? undefined, isActive: isActive ?? undefined }
      const change = await projects.update(callerOf(request), request.params.project_id, input, clientOf(request))
      return toStatus(change, `Project '${change.after?.name}' ${change.changed ? 'was changed' : 'is as you want it'}`)
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/v2/projects/:project_id',
    operationId: 'projects_delete',
    summary: 'Delete a project and its notes',
    description:
      'It is invisible at once and its name is free. It can be restored for thirty days, unless delete_notes is true.',
    ...WRITE,
    schema: { params: ProjectPath, querystring: ProjectDeleteQuery, response: { 200: ProjectDeletion } },
    async handler(request) {
      const deletion = { pathId: request.params.project_id, deleteNotes: request.query.delete_notes === true }
      const change = await deleted.delete(callerOf(request), deletion, clientOf(request))
      const kept = deletion.deleteNotes ? '' : '; it can be restored for 30 days'
      return {
        ...toStatus(change, `Project '${change.before?.name}' was deleted${kept}`),
        deletion_status: 'complete',
        file_delete_status: deletion.deleteNotes ? 'pending' : 'skipped',
      }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/v2/projects/:project_id/restore',
    operationId: 'projects_restore',
    summary: 'Bring a deleted project back',
    description: 'Under its old name, or under another one where that is taken by now.',
    ...WRITE,
    schema: { params: ProjectPath, body: ProjectRestoreBody, response: { 200: ProjectStatus } },
    async handler(request) {
      const { params, body } = request
      const change = await deleted.restore(
        callerOf(request),
        params.project_id,
        body.name ?? undefined,
        clientOf(request),
      )
      return toStatus(change, `Project '${change.after?.name}' was restored`)
    },
  })

  operation(server, {
    method: 'PUT',
    url: '/v2/projects/:project_id/default',
    operationId: 'projects_set_default',
    summary: 'Make a project the default one',
    description: 'For clients that name none. There is always one default project.',
    ...WRITE,
    schema: { params: ProjectPath, response: { 200: ProjectStatus } },
    async handler(request) {
      const change = await projects.setDefault(callerOf(request), request.params.project_id, clientOf(request))
      const verb = change.changed ? 'is now' : 'was already'
      return toStatus(change, `Project '${change.after?.name}' ${verb} the default project`)
    },
  })

  projectInfoRoutes(server, deps)
}
