import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { requireNote } from '../note/look-up.ts'
import { etagOf } from '../note/preconditions.ts'
import { NotePath, ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { projectUrls } from '../project/urls.ts'
import { snapshotStreams } from '../snapshot/snapshot-streams.ts'
import { folderQueryOf } from './folder-query.ts'
import { listFolder } from './list-folder.ts'
import { FolderDocument, FolderFilters, StructureDocument, TreeDocument } from './schema-directory.ts'
import { structureText, treeText } from './write-tree.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const
const MARKDOWN = 'text/markdown; charset=utf-8'
// Beside the policy of every answer: whatever a browser takes the text for, it has no rights at all.
const SANDBOX = "default-src 'none'; sandbox"

export function directoryRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const { db } = deps
  const streams = snapshotStreams(deps)

  operation(server, {
    method: 'GET',
    ...projectUrls('/directory/tree'),
    operationId: 'GetDirectoryTree',
    summary: 'Get all folders and files of a project',
    description: 'In the order of their paths. Sent while it is read; `ListDirectory` has pages.',
    ...READ,
    schema: { params: ProjectPath, response: { 200: TreeDocument } },
    async handler(request, reply) {
      const { id } = await requireProject(db, request.params.project_id)
      return streams.send(request, reply, (snapshot) => treeText(snapshot, id))
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/directory/structure'),
    operationId: 'GetDirectoryStructure',
    summary: 'Get all folders of a project',
    description: 'As the tree, without files.',
    ...READ,
    schema: { params: ProjectPath, response: { 200: StructureDocument } },
    async handler(request, reply) {
      const { id } = await requireProject(db, request.params.project_id)
      return streams.send(request, reply, (snapshot) => structureText(snapshot, id))
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/directory/list'),
    operationId: 'ListDirectory',
    summary: 'List a folder',
    description: 'Folders first, then files. An unknown folder is empty.',
    ...READ,
    schema: { params: ProjectPath, querystring: FolderFilters, response: { 200: FolderDocument } },
    async handler(request) {
      return db.read(async (snapshot) => {
        const project = await requireProject(snapshot, request.params.project_id)
        const query = folderQueryOf(project.id, request.query)
        const { nodes, total } = await listFolder(snapshot, query)
        const { page, pageSize } = query
        return { nodes, page, page_size: pageSize, total, has_more: page * pageSize < total }
      })
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/resource/:entity_id'),
    operationId: 'GetResource',
    summary: 'Get the text of a note as it is stored',
    description: 'Markdown with its frontmatter, byte for byte.',
    ...READ,
    etag: true,
    schema: { params: NotePath, response: { 200: { contentType: MARKDOWN, description: 'The markdown text.' } } },
    async handler(request, reply) {
      const project = await requireProject(db, request.params.project_id)
      const note = await requireNote(db, project, request.params.entity_id)
      reply.header('content-type', MARKDOWN).header('etag', etagOf(note))
      return reply.header('content-security-policy', SANDBOX).send(note.content)
    },
  })
}
