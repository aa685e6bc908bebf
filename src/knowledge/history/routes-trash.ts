import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { answerNote } from '../note/answer-note.ts'
import { DeleteAnswer, EntityDocument, NotePath, ProjectPath, placeOf } from '../note/schema-notes.ts'
import { writerOf } from '../note/writer-of.ts'
import { projectUrls } from '../project/urls.ts'
import {
  DEFAULT_LIMIT,
  encodeNumbers,
  PageQuery,
  TrashDocument,
  TrashPurgeQuery,
  TrashRestoreBody,
  trashedDocument,
  trashPosition,
} from './schema-history.ts'
import { TrashService } from './trash-service.ts'

export function trashRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const trash = new TrashService(deps)

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/trash'),
    operationId: 'ListTrash',
    summary: 'List deleted notes that can be restored',
    description: 'Last deleted first. Notes stay in the trash for 30 days.',
    surface: 'knowledge',
    access: 'notes_read',
    rateLimit: null,
    schema: { params: ProjectPath, querystring: PageQuery, response: { 200: TrashDocument } },
    async handler({ params, query }) {
      const after = query.cursor === undefined ? null : trashPosition(query.cursor)
      const { notes, next } = await trash.list(params.project_id, query.limit ?? DEFAULT_LIMIT, after)
      return {
        entities: notes.map(trashedDocument),
        next_cursor: next === null ? null : encodeNumbers(next.deletedAt, next.noteId),
      }
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/trash/:entity_id/restore'),
    operationId: 'RestoreFromTrash',
    summary: 'Bring a deleted note back',
    description:
      'With its id, its versions and the links to it. 409 when its path or its id is in use meanwhile; `destination_path` brings it to another path. An id that was used again may have several notes in the trash: `entity_id` says which.',
    surface: 'knowledge',
    access: 'notes_write',
    rateLimit: null,
    sends: ['ETag'],
    schema: { params: NotePath, body: TrashRestoreBody, response: { 200: EntityDocument } },
    async handler(request, reply) {
      const { params, body } = request
      const wish = { destinationPath: body?.destination_path, number: body?.entity_id }
      const document = await trash.restore(writerOf(request), placeOf(params), wish)
      return answerNote(reply, document)
    },
  })

  operation(server, {
    method: 'DELETE',
    ...projectUrls('/knowledge/trash/:entity_id'),
    operationId: 'DeleteFromTrash',
    summary: 'Delete a note in the trash forever',
    description: 'With all its versions.',
    surface: 'knowledge',
    access: 'notes_write',
    rateLimit: null,
    schema: { params: NotePath, querystring: TrashPurgeQuery, response: { 200: DeleteAnswer } },
    async handler(request) {
      const { params, query } = request
      return { deleted: await trash.purge(writerOf(request), placeOf(params), query.entity_id) }
    },
  })
}
