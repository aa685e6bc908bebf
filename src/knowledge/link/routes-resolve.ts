import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { projectUrls } from '../project/urls.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import { normalForm } from '../text/normal-form.ts'
import { type Question, type Resolution, resolveId, resolveIdentifier, resolveLink } from './resolve-identifier.ts'
import { LinkAnswer, ResolveAnswer, ResolveBody, type ResolveInput } from './schema-resolve.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const

export function resolveRoutes(server: FastifyInstance, { db, searchIndex }: KnowledgeDeps): void {
  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/resolve'),
    operationId: 'ResolveIdentifier',
    summary: 'Find the note that a text means',
    description:
      'Exact names first, then names that notes had before, then, unless `strict`, all words in title, path or permalink. 404 when nothing is meant; 409 when `strict` and several are.',
    ...READ,
    schema: { params: ProjectPath, body: ResolveBody, response: { 200: ResolveAnswer } },
    async handler(request) {
      const { project_id: projectId } = request.params
      const known = await resolveId(db, projectId, request.body.identifier)
      if (known !== null) return { ...answerOf(known), project_external_id: known.projectExternalId }
      const project = await requireProject(db, projectId)
      const resolution = await resolveIdentifier(db, searchIndex, project, questionOf(request.body))
      return { ...answerOf(resolution), project_external_id: resolution.project.externalId }
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/links/resolve'),
    operationId: 'ResolveLink',
    summary: 'Follow a link, also into another project',
    description: 'As resolve; `project::note`, or `project/note` where no note here has that name, leaves the project.',
    ...READ,
    schema: { params: ProjectPath, body: ResolveBody, response: { 200: LinkAnswer } },
    async handler(request) {
      const project = await requireProject(db, request.params.project_id)
      const resolution = await resolveLink(db, searchIndex, project, questionOf(request.body))
      return { ...answerOf(resolution), target_project_external_id: resolution.project.externalId }
    },
  })
}

function questionOf({ identifier, source_path: sourcePath, strict }: ResolveInput): Question {
  return { identifier, sourcePath: cleanPath(sourcePath ?? null), isStrict: strict ?? false }
}

/** As paths are kept, however its letters and slashes are written; a source that is none is no source. */
function cleanPath(path: string | null): string | null {
  const text = normalForm(dropUnstorable(path ?? '').trim(), 'NFC').replaceAll('\\', '/')
  if (text === '') return null
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  return text.endsWith('/') ? `${segments.join('/')}/` : segments.join('/')
}

function answerOf({ note, method }: Pick<Resolution, 'note' | 'method'>) {
  return {
    external_id: note.external_id,
    entity_id: note.id,
    permalink: note.permalink,
    file_path: note.file_path,
    title: note.title,
    resolution_method: method,
  }
}
