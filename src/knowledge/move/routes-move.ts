import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { answerNote } from '../note/answer-note.ts'
import { preconditionsOf } from '../note/preconditions.ts'
import { NotePath, ProjectPath, placeOf } from '../note/schema-notes.ts'
import { writerOf } from '../note/writer-of.ts'
import { projectUrls } from '../project/urls.ts'
import { MoveService } from './move-service.ts'
import {
  DeleteDirectoryBody,
  DirectoryDeleteResult,
  DirectoryMoveResult,
  MoveBody,
  MoveDirectoryBody,
  MovedDocument,
} from './schema-move.ts'

const WRITE = { surface: 'knowledge', access: 'notes_write', rateLimit: null } as const

export function moveRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const moves = new MoveService(deps)

  operation(server, {
    method: 'PUT',
    ...projectUrls('/knowledge/entities/:entity_id/move'),
    operationId: 'MoveEntity',
    summary: 'Move a note to another path',
    description:
      'Its id, its edges and its permalink stay; the old path keeps leading to it. 400 when the destination is taken or cannot be used.',
    ...WRITE,
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { params: NotePath, body: MoveBody, response: { 200: MovedDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      const move = { destinationPath: body.destination_path, updateLinks: body.update_links ?? false }
      const document = await moves.move(writerOf(request), placeOf(params), move, preconditionsOf(headers))
      return answerNote(reply, document)
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/move-directory'),
    operationId: 'MoveDirectory',
    summary: 'Move all notes under a folder',
    description:
      'In one transaction. A note whose destination is taken stays where it is and is listed in `errors`; with `atomic`, nothing moves then.',
    ...WRITE,
    schema: { params: ProjectPath, body: MoveDirectoryBody, response: { 200: DirectoryMoveResult } },
    async handler(request) {
      const { source_directory: source, destination_directory: destination, atomic } = request.body
      const { done, errors } = await moves.moveDirectory(writerOf(request), request.params.project_id, {
        source,
        destination,
        isAtomic: atomic ?? false,
      })
      return {
        total_files: done.length + errors.length,
        successful_moves: done.length,
        failed_moves: errors.length,
        moved_files: done,
        errors,
      }
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/delete-directory'),
    operationId: 'DeleteDirectory',
    summary: 'Delete all notes under a folder',
    description: 'In one transaction. The notes can be restored from the trash for 30 days.',
    ...WRITE,
    schema: { params: ProjectPath, body: DeleteDirectoryBody, response: { 200: DirectoryDeleteResult } },
    async handler(request) {
      const { done, errors } = await moves.deleteDirectory(
        writerOf(request),
        request.params.project_id,
        request.body.directory,
      )
      return {
        total_files: done.length + errors.length,
        successful_deletes: done.length,
        failed_deletes: errors.length,
        deleted_files: done,
        errors,
        file_delete_status: 'complete' as const,
      }
    },
  })
}
