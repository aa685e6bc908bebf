import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { projectUrls } from '../project/urls.ts'
import { snapshotStreams } from '../snapshot/snapshot-streams.ts'
import { graphQueryOf, orphansQueryOf } from './graph-query.ts'
import { GraphDocument, GraphFilters, OrphanFilters, OrphansDocument } from './schema-graph.ts'
import { graphText } from './write-graph.ts'
import { orphansText } from './write-orphans.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const

export function graphRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const { db } = deps
  const streams = snapshotStreams(deps)

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/graph'),
    operationId: 'GetGraph',
    summary: 'Get the graph of a project',
    description:
      'Every note is a node, every relation whose target exists an edge. Nodes by path, edges by the path of their source and their order in its text. Without `limit` the whole graph is sent while it is read; a page has the edges that begin at its nodes.',
    ...READ,
    schema: { params: ProjectPath, querystring: GraphFilters, response: { 200: GraphDocument } },
    async handler(request, reply) {
      const project = await requireProject(db, request.params.project_id)
      const query = graphQueryOf(project.id, request.query)
      return streams.send(request, reply, (snapshot) => graphText(snapshot, query))
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/orphans'),
    operationId: 'ListOrphans',
    summary: 'List notes without any connection',
    description: 'Notes that have no relation, not even an unresolved one, and that no relation leads to; by path.',
    ...READ,
    schema: { params: ProjectPath, querystring: OrphanFilters, response: { 200: OrphansDocument } },
    async handler(request, reply) {
      const project = await requireProject(db, request.params.project_id)
      const query = orphansQueryOf(project.id, request.query)
      return streams.send(request, reply, (snapshot) => orphansText(snapshot, query))
    },
  })
}
